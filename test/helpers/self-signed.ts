import { generateKeyPairSync, sign } from 'node:crypto';

/** A self-signed certificate and its key, as PEM. */
export interface SelfSigned {
  readonly cert: string;
  readonly key: string;
}

interface SelfSignedOptions {
  /** DNS name of the certificate. Default: `localhost`. */
  readonly host?: string;
  /** Full years in which it is valid. Default: from 2000 to 2049. */
  readonly years?: readonly [from: number, to: number];
}

const ECDSA_WITH_SHA256 = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];
const COMMON_NAME = [0x55, 0x04, 0x03];
const SUBJECT_ALT_NAME = [0x55, 0x1d, 0x11];
const SEQUENCE = 0x30;

/**
 * Node creates keys but no certificates, and openssl may be missing. This writes a certificate (RFC 5280 §4.1) in DER.
 */
export function selfSigned({ host = 'localhost', years = [2000, 2049] }: SelfSignedOptions = {}): SelfSigned {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = der(SEQUENCE, der(0x06, ECDSA_WITH_SHA256));
  const name = der(SEQUENCE, der(0x31, der(SEQUENCE, der(0x06, COMMON_NAME), der(0x0c, Buffer.from(host)))));
  const [from, to] = years;
  const validity = der(SEQUENCE, generalizedTime(`${from}0101000000Z`), generalizedTime(`${to}1231235959Z`));
  const hosts = der(SEQUENCE, der(0x82, Buffer.from(host)));
  const extensions = der(0xa3, der(SEQUENCE, der(SEQUENCE, der(0x06, SUBJECT_ALT_NAME), der(0x04, hosts))));
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const version3 = der(0xa0, der(0x02, [2]));
  const body = der(SEQUENCE, version3, der(0x02, [1]), algorithm, name, validity, name, spki, extensions);
  const signature = sign('sha256', body, privateKey);
  const certificate = der(SEQUENCE, body, algorithm, der(0x03, [0], signature));
  return { cert: pem(certificate), key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
}

function der(tag: number, ...parts: (Uint8Array | readonly number[])[]): Buffer {
  const content = Buffer.concat(parts.map((part) => Buffer.from(part)));
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function generalizedTime(text: string): Buffer {
  return der(0x18, Buffer.from(text));
}

function pem(certificate: Buffer): string {
  const lines = certificate.toString('base64').replace(/.{64}/g, '$&\n');
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
}

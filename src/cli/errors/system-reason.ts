const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  EISDIR: 'it is a directory',
  ENOTDIR: 'a part of the path is no directory',
  ENOSPC: 'no space left on the device',
};

/** What the system says about a file, in words of people. */
export function systemReason({
  code = '',
  message,
}: {
  readonly code?: string | undefined;
  readonly message?: string;
}): string {
  return REASONS[code] ?? message ?? 'unknown reason';
}

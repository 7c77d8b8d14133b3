import { Argument } from 'commander';
import { CliError, noFolder, usageError } from '../errors/cli-error.ts';
import { printJson } from '../output/print-json.ts';
import { CliCommand } from '../parser/command.ts';
import {
  dataOptions,
  isSettingName,
  profileOption,
  rowOf,
  SETTING_NAMES,
  type SettingName,
} from '../settings/options.ts';
import { type Invocation, requireProfile, settingHint } from '../settings/settings.ts';
import {
  changeConfig,
  configPath,
  configValue,
  requireConfig,
  settingGroups,
  settingText,
} from '../settings/stored-files.ts';

const nameArgument = () => new Argument('<name>', SETTING_NAMES.join(', '));

export function configCommand(): CliCommand {
  const config = new CliCommand('config').about({
    summary: 'stored settings: list, get, set, unset, path',
    description:
      'Settings stored in config.json. Options and environment variables override them; color overrides NO_COLOR and the like.',
    notes: [
      `Names: ${SETTING_NAMES.join(', ')}. With --profile a setting is stored for that profile, without it for all; base_url always belongs to a profile. Keys are not settings: see fxrates auth.`,
    ],
  });
  for (const command of [listCommand(), ...commandsOfOneSetting(), pathCommand()]) config.addCommand(command);
  return config;
}

function listCommand(): CliCommand {
  return new CliCommand('list')
    .about({
      summary: 'all stored settings',
      description: 'Prints every stored setting.',
    })
    .with(() => dataOptions())
    .runs(list);
}

function commandsOfOneSetting(): readonly CliCommand[] {
  const get = new CliCommand('get').about({
    summary: 'one stored setting',
    description: 'Prints one stored setting.',
    examples: [{ command: 'fxrates config get base_url', comment: '' }],
  });
  const set = new CliCommand('set').about({
    summary: 'store a setting',
    description: 'Checks a setting and stores it.',
    examples: [
      { command: 'fxrates config set timeout 10s', comment: '' },
      { command: 'fxrates config set base_url http://127.0.0.1:4010 --profile mock', comment: '' },
    ],
  });
  const unset = new CliCommand('unset').about({
    summary: 'remove a stored setting',
    description: 'Removes a stored setting; its default applies again.',
    examples: [{ command: 'fxrates config unset timeout', comment: '' }],
  });
  for (const command of [get, set, unset]) command.takes(nameArgument(), SETTING_NAMES).with(() => [profileOption()]);
  set.takes(new Argument('<value>'));
  const traits = { survivesBrokenConfig: true }; // they report it themselves
  return [get.runs(printSetting, traits), set.runs(change, traits), unset.runs(change, traits)];
}

function pathCommand(): CliCommand {
  return new CliCommand('path')
    .about({
      summary: 'path of config.json',
      description: 'Prints the path of config.json, even if the file does not exist.',
    })
    .runs(printConfigPath);
}

async function list(invocation: Invocation): Promise<void> {
  const { config, screen } = invocation;
  requireConfig(config);
  const settings = settingGroups(config).flatMap(([prefix, values]) =>
    SETTING_NAMES.flatMap((name) => {
      const value = settingText(values.get(name), name, config);
      return value === undefined ? [] : [[prefix + name, value] as const];
    }),
  );
  const isEmpty = settings.length === 0;
  if (isEmpty && screen.isForPeople) await screen.remark(`nothing is set in ${config.path ?? 'config.json'}`);
  else await printJson(JSON.stringify(Object.fromEntries(settings)), invocation);
}

async function printSetting({ args: [typed], config, settings, screen }: Invocation): Promise<void> {
  requireConfig(config);
  const name = settingName(typed);
  const value = configValue(config, name, settings.profile);
  if (value === undefined) throw new CliError(`${name} is not set`, { code: 'not_set' });
  await screen.printText(`${screen.isJson ? JSON.stringify(value) : value}\n`);
}

/** Stores the value; without one, which `unset` does not accept, removes the setting. */
async function change(invocation: Invocation): Promise<void> {
  const { args, io, config, settings, screen, options } = invocation;
  requireConfig(config);
  const [typed, value] = args;
  const name = settingName(typed);
  if (value !== undefined) checkSetting(name, value, invocation);
  const { profile } = settings;
  const isOfProfile = name === 'base_url' || (options.profile !== undefined && name !== 'profile');
  const owner = isOfProfile ? ` of profile ${profile}` : '';
  const stored = (isOfProfile ? config.profiles.get(profile) : config.settings)?.get(name);
  if (value === undefined && stored === undefined) return screen.remark(`${name}${owner} is not set`);
  const path = await changeConfig(io, name, isOfProfile ? { value, profile } : { value });
  await screen.remark(`${name}${owner} ${value === undefined ? 'removed from' : 'stored in'} ${path}`);
}

function checkSetting(name: SettingName, value: string, { config, io }: Invocation): void {
  const { parse, check } = rowOf(name);
  const parsed = parse(value, name);
  check?.(parsed);
  if (name === 'profile') requireProfile({ profile: value }, { config, env: io.env });
}

async function printConfigPath({ io, screen }: Invocation): Promise<void> {
  const path = configPath(io.env);
  if (path === undefined) throw noFolder();
  await screen.print(`${screen.isJson ? JSON.stringify({ path }) : path}\n`);
}

/** The setting of that name, which may also be typed as in its option: `base-url`. */
function settingName(typed = ''): SettingName {
  const name = typed.replaceAll('-', '_');
  if (isSettingName(name)) return name;
  const hints = /key|token|secret/i.test(name) ? ['To store a key:  fxrates auth login'] : [settingHint(name)];
  throw usageError(`unknown setting '${typed}'`, undefined, hints);
}

import { isAbsolute } from 'node:path'
import { type OptionGroup, type ReadGroup, type ReadOne, text } from './option-kinds.ts'

/** Commands that call a server. */
export const commandOptions = {
  token: {
    variable: 'QUOIN_TOKEN',
    fallback: '',
    help: 'Access token for commands with --url, instead of quoin login.',
    secret: true,
    ...text,
  },
  configHome: {
    variable: 'XDG_CONFIG_HOME',
    fallback: '',
    help: 'Folder of your settings, where quoin login stores access tokens. Empty or relative: .config in the home directory.',
    accepts: 'text',
    read: (input: string) => (isAbsolute(input) ? input : ''),
  },
} as const satisfies OptionGroup

export function readCommandOptions(read: ReadOne): ReadGroup<typeof commandOptions> {
  return {
    token: read(commandOptions.token),
    configHome: read(commandOptions.configHome),
  }
}

import { type Command, readWords } from './command.ts'
import { newPassword, passwordHelp, passwordOption } from './new-password.ts'
import { urlHelp, urlOption, withManagement } from './open-management.ts'

export const userCreate: Command = {
  usage: 'user create <name> [--scopes <a,b>]',
  summary: 'Makes a user.',
  help: `  --scopes <a,b>    The scopes that the user holds, with commas. * is everything.
${passwordHelp}
${urlHelp}`,
  async run(words, terminal) {
    const options = { ...urlOption, ...passwordOption, scopes: { type: 'string' } } as const
    const { positionals, values } = readWords(words, options, { least: 1, most: 1 })
    const [username = ''] = positionals
    const scopes = (values.scopes ?? '')
      .split(',')
      .map((scope) => scope.trim())
      .filter((scope) => scope !== '')
    const { password, isMade } = await newPassword(terminal, values['password-stdin'] === true)
    await withManagement(terminal, values.url, (management) =>
      management.call('POST', '/users', { username, password, custom_scopes: scopes }),
    )
    terminal.print(`The user ${username} can sign in.`)
    if (isMade) terminal.print(`Password: ${password}   (shown only now: keep it)`)
    return 0
  },
}

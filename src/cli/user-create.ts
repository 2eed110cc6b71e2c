import { command } from './command.ts'
import { newPassword, passwordFlag } from './new-password.ts'
import { urlFlag, withManagement } from './open-management.ts'

export const userCreate = command({
  name: 'user create',
  operands: [{ name: '<name>' }],
  flags: {
    scopes: {
      type: 'string',
      value: '<a,b>',
      help: 'The scopes of the user, separated by commas. * grants everything.',
    },
    ...passwordFlag,
    ...urlFlag,
  },
  summary: 'Creates a user.',
  async run({ positionals: [username = ''], values }, terminal) {
    const scopes = (values.scopes ?? '')
      .split(',')
      .map((scope) => scope.trim())
      .filter((scope) => scope !== '')
    const { password, isMade } = await newPassword(terminal, values['password-stdin'] === true)
    await withManagement(terminal, values.url, (management) =>
      management.call('POST', '/users', { username, password, custom_scopes: scopes }),
    )
    terminal.print(`The user ${username} can sign in.`)
    if (isMade) terminal.print(`Password: ${password}   (shown once, save it now)`)
    return 0
  },
})

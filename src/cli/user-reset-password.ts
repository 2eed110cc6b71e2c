import { type Command, readWords } from './command.ts'
import { findRecord } from './find-record.ts'
import { guidOf } from './management.ts'
import { newPassword, passwordHelp, passwordOption } from './new-password.ts'
import { urlHelp, urlOption, withManagement } from './open-management.ts'

export const userResetPassword: Command = {
  usage: 'user reset-password <name>',
  summary: 'Gives a user a new password, unlocks the user and signs it out everywhere.',
  help: `<name> is a user name or a guid.

${passwordHelp}
${urlHelp}`,
  async run(words, terminal) {
    const options = { ...urlOption, ...passwordOption } as const
    const { positionals, values } = readWords(words, options, { least: 1, most: 1 })
    const [named = ''] = positionals
    const { password, isMade } = await newPassword(terminal, values['password-stdin'] === true)
    await withManagement(terminal, values.url, async (management) => {
      const guid = guidOf(await findRecord(management, 'users', named))
      await management.call('PUT', `/users/${guid}`, { password })
    })
    terminal.print(`The user ${named} has a new password.`)
    if (isMade) terminal.print(`Password: ${password}   (shown only now: keep it)`)
    return 0
  },
}

import { command } from './command.ts'
import { findRecord } from './find-record.ts'
import { guidOf } from './management.ts'
import { newPassword, passwordFlag } from './new-password.ts'
import { urlFlag, withManagement } from './open-management.ts'

export const userResetPassword = command({
  name: 'user reset-password',
  operands: [{ name: '<name>' }],
  flags: { ...passwordFlag, ...urlFlag },
  summary: 'Sets a new password, unlocks the user and ends all its sessions.',
  about: '<name> is a user name or a guid.',
  async run({ positionals: [named = ''], values }, terminal) {
    const { password, isMade } = await newPassword(terminal, values['password-stdin'] === true)
    await withManagement(terminal, values.url, async (management) => {
      const guid = guidOf(await findRecord(management, 'users', named))
      await management.call('PUT', `/users/${guid}`, { password })
    })
    terminal.print(`The user ${named} has a new password.`)
    if (isMade) terminal.print(`Password: ${password}   (shown once, save it now)`)
    return 0
  },
})

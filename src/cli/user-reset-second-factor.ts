import { command } from './command.ts'
import { findRecord } from './find-record.ts'
import { guidOf } from './management.ts'
import { urlFlag, withManagement } from './open-management.ts'

export const userResetSecondFactor = command({
  name: 'user reset-second-factor',
  operands: [{ name: '<name>' }],
  flags: urlFlag,
  summary: 'Removes the second factor of a user and ends all its sessions.',
  about: '<name> is a user name or a guid. For a user who has lost the app and the recovery codes.',
  async run({ positionals: [named = ''], values }, terminal) {
    await withManagement(terminal, values.url, async (management) => {
      const guid = guidOf(await findRecord(management, 'users', named))
      await management.call('DELETE', `/users/${guid}/second-factor`)
    })
    terminal.print(`The user ${named} has no second factor. The password alone signs in.`)
    return 0
  },
})

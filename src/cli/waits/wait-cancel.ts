import { command } from '../command.ts'
import { urlFlag, withManagement } from '../open-management.ts'

export const waitCancel = command({
  name: 'wait cancel',
  operands: [{ name: '<wait>' }],
  flags: urlFlag,
  summary: 'Cancels a wait: its run never continues.',
  about: 'What the run wrote before stays. This cannot be undone.',
  async run({ positionals: [guid = ''], values: { url } }, terminal) {
    const { cancelWait } = await import('./stored-waits.ts')
    await withManagement(terminal, url, (management) => cancelWait(management, guid))
    return 0
  },
})

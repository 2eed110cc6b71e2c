import { command } from '../command.ts'
import { urlFlag, withManagement } from '../open-management.ts'

export const storageRemove = command({
  name: 'storage remove',
  operands: [{ name: '<name>' }],
  flags: {
    yes: { type: 'boolean', help: 'Remove it also while it has documents: they are permanently deleted.' },
    ...urlFlag,
  },
  summary: 'Removes a storage.',
  about:
    'Refused while an active blueprint uses it. Nothing is removed without --yes while it has documents.',
  async run({ positionals: [name = ''], values: { yes, url } }, terminal) {
    const { storageNamed } = await import('./stored-storages.ts')
    return withManagement(terminal, url, async (management) => {
      const { path, documents } = await storageNamed(management, name)
      if (!yes && documents > 0) {
        terminal.complain(`${name} has ${documents} documents. Nothing was removed. Delete them with --yes.`)
        return 1
      }
      await management.call('DELETE', path)
      return 0
    })
  },
})

import { command } from '../command.ts'
import { urlFlag, withManagement } from '../open-management.ts'

export const fieldRename = command({
  name: 'field rename',
  operands: [{ name: '<storage>' }, { name: '<name>' }, { name: '<new-name>' }],
  flags: {
    'dry-run': { type: 'boolean', help: 'Only says how many documents follow, and what names the field.' },
    ...urlFlag,
  },
  summary: 'Renames a field, with the values of stored documents.',
  about: `The values of more than 1,000 documents follow by a job, during which both names are read. Blueprints that name the
field are listed: deploy them with the new name.`,
  async run({ positionals: [storage = '', name = '', next = ''], values }, terminal) {
    const { changeField, pathOfField, previewOf, showPreview } = await import('./stored-fields.ts')
    await withManagement(terminal, values.url, async (management) => {
      const path = await pathOfField(management, { storage, name })
      if (values['dry-run']) showPreview(await previewOf(management, path, { name: next }), terminal)
      else await changeField(management, path, { name: next }, terminal)
    })
    return 0
  },
})

import { command } from '../command.ts'
import { urlFlag, withManagement } from '../open-management.ts'

export const fieldRemove = command({
  name: 'field remove',
  operands: [{ name: '<storage>' }, { name: '<name>' }],
  flags: {
    yes: {
      type: 'boolean',
      help: 'Remove it also while documents have a value or something names the field.',
    },
    ...urlFlag,
  },
  summary: 'Removes a field. Stored documents keep their values.',
  about:
    'Says how many documents have a value, and what names the field; then nothing is removed without --yes.',
  async run({ positionals: [storage = '', name = ''], values: { yes, url } }, terminal) {
    const { pathOfField, previewOf, showPreview } = await import('./stored-fields.ts')
    return withManagement(terminal, url, async (management) => {
      const path = await pathOfField(management, { storage, name })
      const preview = await previewOf(management, path)
      if (!yes && (preview.documents > 0 || preview.lines.length > 0)) {
        showPreview(preview, terminal)
        terminal.complain('Nothing was removed. Remove it all the same with --yes.')
        return 1
      }
      await management.call('DELETE', path)
      return 0
    })
  },
})

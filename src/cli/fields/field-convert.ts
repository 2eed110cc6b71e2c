import { command } from '../command.ts'
import { urlFlag, withManagement } from '../open-management.ts'
import { readObject } from '../read-object.ts'

export const fieldConvert = command({
  name: 'field convert',
  operands: [{ name: '<storage>' }, { name: '<name>' }, { name: '<type>' }],
  flags: {
    misfits: {
      type: 'string',
      value: '<json>',
      help: 'For values that do not fit: {} for nothing, {"value":0}, or {"keep_in":"price_text"} to keep them there.',
    },
    rules: {
      type: 'string',
      value: '<json>',
      help: 'Further settings that the type needs, for example {"validation_rules":{"choices":["open","done"]}}.',
    },
    'dry-run': { type: 'boolean', help: 'Only lists the values that do not fit.' },
    ...urlFlag,
  },
  summary: 'Gives a field another type, and converts the values of stored documents.',
  about:
    'Prints a line for each document that does not fit: its guid and its value. Nothing has changed then.',
  async run({ positionals: [storage = '', name = '', type = ''], values }, terminal) {
    const changes = { ...readObject('rules', values.rules), type }
    const misfits = values.misfits === undefined ? {} : { misfits: readObject('misfits', values.misfits) }
    const { changeField, pathOfField, previewOf, showPreview } = await import('./stored-fields.ts')
    return withManagement(terminal, values.url, async (management) => {
      const path = await pathOfField(management, { storage, name })
      const preview = await previewOf(management, path, changes)
      const isRefused = preview.misfits > 0 && values.misfits === undefined
      if (values['dry-run'] || isRefused) showPreview(preview, terminal)
      if (values['dry-run']) return 0
      if (isRefused) {
        terminal.complain('Nothing was changed. Say with --misfits what is stored in place of these values.')
        return 1
      }
      await changeField(management, path, { ...changes, ...misfits }, terminal)
      return 0
    })
  },
})

import { command } from './command.ts'
import { urlFlag } from './open-management.ts'

export const importBlueprintFile = command({
  name: 'import',
  operands: [{ name: '<file>', completes: 'file' }],
  flags: {
    activate: {
      type: 'boolean',
      help: 'Check the file first (nothing is created if it cannot run), then activate the blueprint.',
    },
    replace: {
      type: 'boolean',
      help: 'Update the blueprint of that name; it and its blocks of the same names keep their guids.',
    },
    another: {
      type: 'boolean',
      help: 'Create one more blueprint although there is one of that name.',
    },
    ...urlFlag,
  },
  summary: 'Creates a blueprint from a file; with --activate its endpoints go live.',
  about: `Prints the guid of the blueprint. Storages, fields, page templates and groups of the file are created if they are
missing; those that differ are listed and left, or changed with --replace. If the import fails, what it created is
removed again and what it changed is changed back. A name that is taken needs --replace or --another.`,
  async run({ positionals: [file = ''], values }, terminal) {
    const { runImport } = await import('./run-import.ts')
    const { activate = false, replace = false, another = false, url } = values
    return runImport({ file, activate, replace, another, url }, terminal)
  },
})

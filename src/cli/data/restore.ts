import { command } from '../command.ts'

export const restore = command({
  name: 'restore',
  operands: [{ name: '<folder>', completes: 'folder' }],
  flags: {
    force: {
      type: 'boolean',
      help: `The directory may contain data. Nothing is deleted: its files are moved into a folder
before-restore-<time> in the same directory; delete that folder when you no longer need it.`,
    },
  },
  summary: 'Restores a backup into an empty data directory, after checking every checksum.',
  about: 'The data directory is QUOIN_DATA. Stop the server first.',
  async run({ positionals: [folder = ''], values }, terminal) {
    const { runRestore } = await import('./run-restore.ts')
    return runRestore(folder, values.force === true, terminal)
  },
})

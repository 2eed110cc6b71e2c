import { optionsHelp } from '../options/options.ts'
import { command } from './command.ts'

export const start = command({
  name: 'start',
  operands: [],
  flags: {
    example: {
      type: 'string',
      value: '<name>',
      help: 'Installs an example application first, such as crm. Records that exist are left as they are.',
    },
  },
  summary: 'Starts a node (also: npm start).',
  about: () =>
    `It runs until SIGTERM or SIGINT. Then it takes no new connections, finishes the requests in flight (for
10 seconds) and closes. A second signal ends it at once. Exit code 70: the watchdog or an exception ended it; start it again.

Settings come from the environment:

${optionsHelp()}`,
  async run({ values }, terminal) {
    const { runStart } = await import('./run-start.ts')
    return runStart(values.example, terminal)
  },
})

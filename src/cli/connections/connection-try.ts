import { command } from '../command.ts'
import { urlFlag, withManagement } from '../open-management.ts'

export const connectionTry = command({
  name: 'connection try',
  operands: [{ name: '<name>' }],
  flags: {
    path: { type: 'string', value: '<path>', help: 'Below the base address, such as orders?limit=1.' },
    ...urlFlag,
  },
  summary: 'Sends one GET request over a connection and prints the status code.',
  about: `Without --path the base address itself is asked. The request is signed in as those of flows.
Exit code 1 for a status code outside of 200 to 299, and where no reply came.`,
  async run({ positionals: [name = ''], values: { path = '', url } }, terminal) {
    const { tryNamed } = await import('./stored-connections.ts')
    const { ok, status, milliseconds, problem } = await withManagement(terminal, url, (management) =>
      tryNamed(management, name, path),
    )
    if (typeof problem === 'string') terminal.complain(problem)
    else terminal.print(`${status} in ${milliseconds} ms`)
    return ok === true ? 0 : 1
  },
})

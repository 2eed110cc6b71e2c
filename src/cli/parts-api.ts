import type { PartsApi } from '../shared/application/install-parts.ts'
import type { Terminal } from './command.ts'
import { type Management, Refused, recordsOf } from './management.ts'

/** What reads and makes the parts of a file. */
export function partsApi(management: Management, terminal: Terminal): PartsApi {
  return {
    async find(path, body) {
      try {
        return recordsOf(await management.call('POST', path, body))
      } catch (error) {
        if (error instanceof Refused && error.status === 403) return undefined
        throw error
      }
    },
    stays: (part) => terminal.complain(`${part} was made or changed, and could not be undone.`),
    call: (method, path, body) => management.call(method, path, body),
  }
}

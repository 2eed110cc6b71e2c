import { writeFile } from 'node:fs/promises'
import type { ApiDocument } from '../http/docs/open-api-document.ts'
import { isJsonObject } from '../shared/json.ts'
import { command } from './command.ts'
import { urlFlag, withManagement } from './open-management.ts'

export const client = command({
  name: 'client',
  operands: [],
  flags: {
    out: { type: 'string', value: '<file>', help: 'Writes it there. Without --out: to the standard output.' },
    url: {
      ...urlFlag.url,
      help: `The running server. Without --url: with an access token in QUOIN_TOKEN the server of this machine
(QUOIN_HOST, QUOIN_PORT), else the only server with a sign-in of quoin login.`,
    },
  },
  summary: 'Writes a TypeScript client for the endpoints that you may call.',
  about: `One file without dependencies, with the types of parameters, bodies and replies. A server serves the same at
/api/v1/client.ts. Write it again when an application changes: a call that no longer fits is an error of the compiler.`,
  async run({ values: { out, url } }, terminal) {
    const { runningServer } = await import('./running-server.ts')
    const { typedClient } = await import('../http/docs/typed-client.ts')
    const server = url ?? (await runningServer(terminal))
    const document: unknown = await withManagement(terminal, server, (management) =>
      management.call('GET', '/openapi.json'),
    )
    if (!isDocument(document)) throw new Error(`${server} sent no OpenAPI document.`)
    const text = typedClient(document)
    if (out === undefined) terminal.print(text)
    else await writeFile(out, text)
    return 0
  },
})

/** The server has made it. */
function isDocument(value: unknown): value is ApiDocument {
  return isJsonObject(value) && isJsonObject(value.info) && isJsonObject(value.paths)
}

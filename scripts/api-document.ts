import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ApiDocument } from '../src/http/docs/open-api-document.ts'
import { readOptions } from '../src/options/options.ts'
import { openQuoin } from '../src/quoin/quoin.ts'

/** The OpenAPI document as a whole Quoin without a blueprint answers it, so no list of routes is kept here. */
export async function apiDocument(): Promise<ApiDocument> {
  const directory = await mkdtemp(join(tmpdir(), 'quoin-docs-'))
  try {
    const options = readOptions({
      QUOIN_DATA: directory,
      QUOIN_PORT: '0',
      QUOIN_EXAMPLES: '0',
      QUOIN_LOG_LEVEL: 'silent',
    })
    const quoin = await openQuoin(options, {
      clock: Date.now,
      random: (bytes) => void crypto.getRandomValues(bytes),
      synchronous: 'OFF',
    })
    const reply = await quoin.server.app.inject('/api/v1/openapi.json').finally(() => quoin.close())
    if (reply.statusCode !== 200) throw new Error(`The OpenAPI document is not there: ${reply.body}`)
    return reply.json()
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

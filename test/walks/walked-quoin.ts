/** A whole Quoin in this process, from its sources, with its jobs and schedules, on a port of its own. */
import { randomFillSync } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readOptions } from '../../src/options/options.ts'
import { openQuoin, type Quoin } from '../../src/quoin/quoin.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/shared/json.ts'

export interface WalkedQuoin {
  readonly quoin: Quoin
  /** Sends a request under /api/v1 and gives its body. Throws for a status from 300 on. */
  send(method: 'GET' | 'POST' | 'PUT', path: string, body?: JsonValue): Promise<JsonObject>
  close(): Promise<void>
}

const password = 'a password of the walks'

/** `settings`: environment variables. The tasks example is active. */
export async function openWalkedQuoin(settings: Readonly<Record<string, string>> = {}): Promise<WalkedQuoin> {
  const directory = await mkdtemp(join(tmpdir(), 'quoin-walks-'))
  const options = readOptions({
    QUOIN_DATA: directory,
    QUOIN_PORT: '0',
    QUOIN_ADMIN_PASSWORD: password,
    QUOIN_LOG_LEVEL: 'silent',
    QUOIN_RATE_LIMIT: '0',
    QUOIN_ENVIRONMENT: 'development',
    ...settings,
  })
  const quoin = await openQuoin(options, { clock: Date.now, random: randomFillSync, synchronous: 'OFF' })
  const address = await quoin.server.listen()
  const { access_token } = await quoin.access.signIn({ username: 'admin', password, ip: '127.0.0.1' })
  return {
    quoin,
    async send(method, path, body) {
      const anonymous = method === 'GET' && path.startsWith('/tasks')
      const response = await fetch(`${address}/api/v1${path}`, {
        method,
        headers: {
          ...(!anonymous && { authorization: `Bearer ${access_token}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      if (response.status >= 300) throw new Error(`${method} ${path}: ${response.status} ${text}`)
      const parsed: JsonValue = text === '' ? {} : JSON.parse(text)
      return isJsonObject(parsed) ? parsed : { records: parsed }
    },
    async close() {
      await quoin.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

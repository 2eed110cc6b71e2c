/** Quoin in this process, listening, on a folder of its own: for parts that look at its event loop or change its routes. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readOptions } from '../../src/options/options.ts'
import { openQuoin, type Quoin } from '../../src/quoin/quoin.ts'
import { adminPassword } from '../end-to-end/harness.ts'

export interface QuoinHere {
  readonly quoin: Quoin
  /** `http://127.0.0.1:<port>` */
  readonly address: string
  close(): Promise<void>
}

/** `settings`: environment variables. */
export async function openQuoinHere(settings: Readonly<Record<string, string>> = {}): Promise<QuoinHere> {
  const directory = await mkdtemp(join(tmpdir(), 'quoin-here-'))
  const remove = () => rm(directory, { recursive: true, force: true })
  const options = readOptions({
    QUOIN_DATA: directory,
    QUOIN_PORT: '0',
    QUOIN_ADMIN_PASSWORD: adminPassword,
    QUOIN_EXAMPLES: '0',
    QUOIN_LOG_LEVEL: 'silent',
    QUOIN_RATE_LIMIT: '0',
    // It takes longer than a sign-in counts as new.
    QUOIN_CONFIRM_SECONDS: '0',
    QUOIN_SECRETS_KEY: '0f'.repeat(32),
    ...settings,
  })
  try {
    const quoin = await openQuoin(options, {
      clock: Date.now,
      random: (bytes) => void crypto.getRandomValues(bytes),
      synchronous: 'OFF',
      passwordCost: { memory: 64, passes: 1, parallelism: 1 },
    })
    const address = await quoin.server.listen()
    return {
      quoin,
      address,
      async close() {
        await quoin.close()
        await remove()
      },
    }
  } catch (error) {
    await remove()
    throw error
  }
}

/** A whole Quoin in this process, on a folder of its own, listening on a port: what is counted is counted here. */
import { randomFillSync } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installBlueprint } from '../../src/flows/blueprints/install-blueprint.ts'
import { readOptions } from '../../src/options/options.ts'
import { openQuoin, type Quoin } from '../../src/quoin/quoin.ts'

export interface CheckedQuoin {
  readonly quoin: Quoin
  readonly port: number
  /** The administrator's. */
  readonly token: string
  close(): Promise<void>
}

const password = 'a password that only this check has'
const blueprints = [
  '../../examples/tasks/blueprints/tasks.json',
  '../constant.blueprint.json',
  '../increment.blueprint.json',
]

/** Without jobs and schedules, which would be counted with the requests; without waiting for the disk. */
export async function openCheckedQuoin(): Promise<CheckedQuoin> {
  const directory = await mkdtemp(join(tmpdir(), 'quoin-check-'))
  const remove = () => rm(directory, { recursive: true, force: true })
  try {
    const options = readOptions({
      QUOIN_DATA: directory,
      QUOIN_PORT: '0',
      QUOIN_ADMIN_PASSWORD: password,
      QUOIN_EXAMPLES: '0',
      QUOIN_LOG_LEVEL: 'silent',
      QUOIN_RATE_LIMIT: '0',
      // It takes longer than a sign-in counts as new.
      QUOIN_CONFIRM_SECONDS: '0',
      QUOIN_ENVIRONMENT: 'production',
    })
    const quoin = await openQuoin(options, {
      clock: Date.now,
      random: randomFillSync,
      synchronous: 'OFF',
      offline: true,
    })
    const close = () => quoin.close().finally(remove)
    try {
      for (const name of blueprints) {
        const file = await readFile(new URL(name, import.meta.url), 'utf8')
        await installBlueprint(quoin.flows, JSON.parse(file), { guid: '', username: 'bench' })
      }
      const port = Number(new URL(await quoin.server.listen()).port)
      const signedIn = await quoin.access.signIn({ username: 'admin', password, ip: '127.0.0.1' })
      return { quoin, port, token: signedIn.access_token, close }
    } catch (error) {
      await close()
      throw error
    }
  } catch (error) {
    await remove()
    throw error
  }
}

/**
 * The composition root: database → records → flows → doors. The only folder that builds things; what it opened is closed in
 * reverse order, all of it, whatever fails.
 */
import { readFile } from 'node:fs/promises'
import type { Access } from '../access/access.ts'
import type { FirstAdministrator } from '../access/first-administrator.ts'
import type { Waits } from '../flows/background/waits.ts'
import type { Flows } from '../flows/flows.ts'
import type { Runs } from '../flows/run-pipeline.ts'
import type { Server } from '../http/server/server.ts'
import type { Options } from '../options/options.ts'
import type { DocumentImports } from '../records/documents/document-import.ts'
import type { OptionSettings } from '../records/settings/option-settings.ts'
import type { StorageContext } from '../records/storage-records.ts'
import type { RuledDatabase } from '../storage/ruled.ts'
import { startFirst } from './first-start.ts'
import { openNodeDatabase } from './open-database.ts'
import { openNodeDoors } from './open-doors.ts'
import { openNodeFlows } from './open-flows.ts'
import { openNodeRecords } from './open-records.ts'
import { openNodeSettings } from './open-settings.ts'
import { releasers } from './releasers.ts'
import type { Start, Surroundings } from './start.ts'

export interface Quoin {
  readonly access: Access
  readonly flows: Flows
  readonly runs: Runs
  readonly waits: Waits
  readonly server: Server
  readonly database: RuledDatabase
  readonly documents: StorageContext
  readonly imports: DocumentImports
  readonly settings: OptionSettings
  readonly version: string
  /** The first administrator, when this start made it; its password only if it was generated. */
  readonly administrator: FirstAdministrator | undefined
  close(): Promise<void>
}

/** Opens everything, ready to listen. */
export async function openQuoin(options: Options, surroundings: Surroundings): Promise<Quoin> {
  const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'))
  const opened = releasers()
  const bare: Start = { ...surroundings, options, version, opened }
  try {
    const nodeDatabase = await openNodeDatabase(bare)
    const start = { ...bare, set: await openNodeSettings(bare, nodeDatabase.raw) }
    const nodeRecords = await openNodeRecords(start, nodeDatabase.raw)
    const nodeFlows = await openNodeFlows(start, nodeDatabase, nodeRecords)
    const { database, access, documents, imports } = nodeRecords
    const { flows, runs, waits } = nodeFlows
    const administrator = await startFirst({ options, database, access, flows })
    const server = await openNodeDoors(start, nodeDatabase, nodeRecords, nodeFlows)
    const parts = {
      access,
      flows,
      runs,
      waits,
      server,
      database,
      documents,
      imports,
      version,
      administrator,
      settings: start.set.settings,
    }
    return { ...parts, close: opened.release }
  } catch (error) {
    await opened.release()
    throw error
  }
}

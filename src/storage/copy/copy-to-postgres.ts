/**
 * Copies everything of an embedded Quoin to PostgreSQL and compares the two.
 *
 * It can be ended at any point and run again: the database is marked before anything is in it and the mark says that the copy
 * is unfinished until all was found equal; each step makes a part of the database equal to the source, whatever is there
 * of an earlier run. Both sides stand still meanwhile: the source is locked, and no node starts on a marked database.
 */

import { join } from 'node:path'
import type { AssetFiles } from '../assets/asset-files.ts'
import type { PostgresParts } from '../postgres/core/postgres-parts.ts'
import { finishCopy } from '../postgres/core/unfinished-copy.ts'
import { systemStorages } from '../system-storages.ts'
import { type CopiedRow, type CopiedTable, documentTable, plainTables } from './copied-tables.ts'
import { assetOf, type CopiedAsset, placedInBucket, uploadAssets } from './copy-assets.ts'
import { type Comparison, copyRows, isEqual, sourceChecksum, targetChecksum } from './copy-rows.ts'
import { type CopySource, sqliteBatches } from './copy-source.ts'
import { copyStorage, dropOtherStorages } from './copy-storage.ts'
import { openCopyTarget, type TargetOptions } from './copy-target.ts'
import type { PostgresRows } from './postgres-rows.ts'

export interface CopyProgress {
  readonly step: 'copying' | 'uploading' | 'comparing'
  /** What is being worked at. */
  readonly title: string
  /** Of all of the step: rows, or files. */
  readonly done: number
  readonly total: number
  /** Rows of what is being worked at, once it is done. */
  readonly finished: number | undefined
}

export interface Bucket {
  readonly files: AssetFiles
  /** Names the next file that is received. */
  readonly nameNext: (name: string) => void
}

export interface CopyOptions extends TargetOptions {
  /** Where the nodes will look for files; undefined: in the folder. */
  readonly bucket: Bucket | undefined
  readonly tell: (progress: CopyProgress) => void
}

export interface CopiedFiles {
  /** In the folder, or uploaded from there. */
  readonly files: number
  readonly bytes: number
  /** Those that were in a bucket before. */
  readonly inBucket: number
}

export interface CopyReport {
  readonly comparisons: readonly Comparison[]
  readonly assets: CopiedFiles
  /** Whether all is equal, so that nodes may start. */
  readonly isFinished: boolean
}

/** One table on its way. */
interface Part {
  readonly title: string
  readonly table: CopiedTable
  /** All rows as they are to be in PostgreSQL. */
  readonly batches: () => Iterable<readonly CopiedRow[]>
  readonly rows: number
  readonly copy: (postgres: PostgresParts, copied: (rows: number) => void) => Promise<PostgresRows>
}

/** Throws CONFLICT for a database that holds anything else, UNAVAILABLE when one of the two does not answer. */
export async function copyToPostgres(source: CopySource, options: CopyOptions): Promise<CopyReport> {
  const postgres = await openCopyTarget(source, options)
  try {
    const { bucket, tell } = options
    await dropOtherStorages(postgres, source.storages)
    const parts = [...storageParts(source, bucket !== undefined), ...plainParts(source)]
    const copied = await copyParts(postgres, parts, tell)
    await continueNumbers(postgres, source)
    const assets = await copyFiles(source, bucket, tell)
    const comparisons = await compareParts(postgres, copied, tell)
    const isFinished = comparisons.every(isEqual)
    if (isFinished) await finishCopy(postgres.pool)
    return { comparisons, assets, isFinished }
  } finally {
    await postgres.close()
  }
}

function storageParts({ connection, storages }: CopySource, inBucket: boolean): Part[] {
  return storages.map((storage) => {
    const { name, table } = storage
    const read = () => sqliteBatches(connection, table, documentTable)
    const batches = inBucket && name === systemStorages.assets ? () => placed(read()) : read
    return {
      title: name,
      table: documentTable,
      batches,
      rows: countRows(connection, table),
      copy: (postgres, copied) => copyStorage(postgres, storage, batches(), copied),
    }
  })
}

function* placed(batches: Iterable<readonly CopiedRow[]>): Generator<readonly CopiedRow[]> {
  for (const batch of batches) yield batch.map((row) => row.with(-1, placedInBucket(docOf(row))))
}

function plainParts({ connection }: CopySource): Part[] {
  return Object.entries(plainTables).map(([name, table]) => {
    const batches = () => sqliteBatches(connection, name, table)
    return {
      title: `(${name}s)`,
      table,
      batches,
      rows: countRows(connection, name),
      async copy({ pool }, copied) {
        // Not brought up to date: a job may have taken over the key of another one since the run before.
        await pool.run(`TRUNCATE ${name}`)
        const rows = { name, table, tokens: false }
        await copyRows(pool, rows, batches(), copied)
        return rows
      },
    }
  })
}

interface CopiedPart extends Part {
  readonly target: PostgresRows
}

async function copyParts(
  postgres: PostgresParts,
  parts: readonly Part[],
  tell: CopyOptions['tell'],
): Promise<readonly CopiedPart[]> {
  const progress = progressOf('copying', sum(parts), tell)
  const copied: CopiedPart[] = []
  for (const part of parts) {
    const target = await inPart(part, () => part.copy(postgres, progress.add(part.title)))
    // Soon PostgreSQL would do it by itself; until then it would plan for empty tables.
    await postgres.pool.run(`ANALYZE ${target.name}`)
    copied.push({ ...part, target })
    progress.end(part)
  }
  return copied
}

async function compareParts(
  { pool }: PostgresParts,
  parts: readonly CopiedPart[],
  tell: CopyOptions['tell'],
): Promise<readonly Comparison[]> {
  const progress = progressOf('comparing', sum(parts), tell)
  const comparisons: Comparison[] = []
  for (const part of parts) {
    const { title, table, batches, target } = part
    comparisons.push({
      title,
      source: await sourceChecksum(table, batches()),
      target: await targetChecksum(pool, target, progress.add(title)),
    })
    progress.end(part)
  }
  return comparisons
}

/** The next job gets a number that none ever had. */
async function continueNumbers({ pool }: PostgresParts, { lastJob }: CopySource): Promise<void> {
  await pool.rows(`SELECT setval(pg_get_serial_sequence('job', 'id'), $1::bigint, $2)`, [
    Math.max(1, lastJob),
    lastJob > 0,
  ])
}

async function copyFiles(
  source: CopySource,
  bucket: Bucket | undefined,
  tell: CopyOptions['tell'],
): Promise<CopiedFiles> {
  let files = 0
  let bytes = 0
  let inBucket = 0
  for (const { size, onDisk } of assetsOf(source)) {
    if (onDisk) files++
    else inBucket++
    bytes += onDisk ? size : 0
  }
  if (bucket && files + inBucket > 0) {
    const title = 'files'
    const progress = progressOf('uploading', files + inBucket, tell)
    const add = progress.add(title)
    const to = { folder: join(source.directory, 'assets'), bucket: bucket.files, nameNext: bucket.nameNext }
    await uploadAssets(to, assetsOf(source), () => add(1))
    progress.end({ title, rows: files + inBucket })
  }
  return { files, bytes, inBucket }
}

function* assetsOf({ connection, storages }: CopySource): Generator<CopiedAsset> {
  const storage = storages.find(({ name }) => name === systemStorages.assets)
  if (!storage) return
  for (const batch of sqliteBatches(connection, storage.table, documentTable))
    for (const row of batch) {
      const asset = assetOf(docOf(row))
      if (asset) yield asset
    }
}

function docOf(row: CopiedRow): string {
  return String(row.at(-1))
}

function countRows(connection: CopySource['connection'], name: string): number {
  return Number(connection.get(`SELECT count(*) AS n FROM ${name}`)?.n)
}

/** Says which part it was: what PostgreSQL says does not. */
async function inPart<T>({ title }: Part, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Error) error.message = `${title}: ${error.message}`
    throw error
  }
}

function sum(parts: readonly Part[]): number {
  return parts.reduce((all, { rows }) => all + rows, 0)
}

function progressOf(step: CopyProgress['step'], total: number, tell: CopyOptions['tell']) {
  let done = 0
  return {
    add: (title: string) => (rows: number) => {
      done += rows
      tell({ step, title, done, total, finished: undefined })
    },
    end: ({ title, rows }: Pick<Part, 'title' | 'rows'>) =>
      tell({ step, title, done, total, finished: rows }),
  }
}

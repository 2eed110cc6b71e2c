import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Options, optionTable } from '../../options/options.ts'
import { SECRETS_KEY_FILE } from '../../quoin/secret-key-file.ts'
import { QuoinError } from '../../shared/errors.ts'
import { openAssetBucket } from '../../storage/assets/asset-bucket.ts'
import { parseBucketUrl } from '../../storage/assets/bucket-url.ts'
import { type Comparison, isEqual } from '../../storage/copy/copy-rows.ts'
import { openCopySource } from '../../storage/copy/copy-source.ts'
import {
  type Bucket,
  type CopiedFiles,
  type CopyProgress,
  type CopyReport,
  copyToPostgres,
} from '../../storage/copy/copy-to-postgres.ts'
import type { Terminal } from '../command.ts'
import { programVersion } from '../program-version.ts'
import { UsageError } from '../read-words.ts'

// The progress of a copy: a bar on a screen, else a line for each finished part.

const WIDTH = 24
/** Milliseconds between two drawings: a screen shows no more, and drawing costs more than a batch. */
const DRAW_MS = 50

export interface ProgressDisplay {
  show(progress: CopyProgress): void
  /** Takes the bar away. */
  end(): void
}

export function progressDisplay({ redraw, print, clock }: Terminal): ProgressDisplay {
  if (!redraw) {
    return {
      show(progress) {
        const line = finishedLine(progress)
        if (line !== undefined) print(line)
      },
      end: () => undefined,
    }
  }
  let drawn = Number.NEGATIVE_INFINITY
  return {
    show(progress) {
      if (clock() < drawn + DRAW_MS) return
      drawn = clock()
      redraw(bar(progress))
    },
    end: () => redraw(''),
  }
}

function finishedLine({ step, title, finished }: CopyProgress): string | undefined {
  if (finished === undefined) return undefined
  const pairs = { copying: 'copied', uploading: 'in the bucket', comparing: 'compared' }
  return `${title}: ${count(finished)} ${pairs[step]}`
}

/** `copying   [########················]  33 %  1,234 of 3,702  tasks` */
export function bar({ step, title, done, total }: CopyProgress): string {
  const part = total === 0 ? 1 : Math.min(1, done / total)
  const full = Math.floor(part * WIDTH)
  const drawn = `[${'#'.repeat(full)}${'.'.repeat(WIDTH - full)}]`
  const percent = String(Math.floor(part * 100)).padStart(3)
  return `${step.padEnd(9)} ${drawn} ${percent} %  ${count(done)} of ${count(total)}  ${title}`
}

function count(number: number): string {
  return number.toLocaleString('en-US')
}

interface Places {
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/** What `quoin migrate` does. Gives its exit code. */
export async function runMigrate(input: Places, terminal: Terminal): Promise<number> {
  const options = terminal.options()
  const url = urlOf(input.to ?? options.databaseUrl)
  const source = await openCopySource({ ...terminal, directory: input.from ?? options.data })
  try {
    const bucket = await openBucket(options, terminal)
    const display = progressDisplay(terminal)
    try {
      const { clock, random } = terminal
      const version = await programVersion()
      const show = display.show
      const report = await copyToPostgres(source, { url, clock, random, version, bucket, tell: show })
      display.end()
      return finish(report, terminal, { url, folder: source.directory, hasBucket: bucket !== undefined })
    } catch (error) {
      display.end()
      throw toBeContinued(error)
    } finally {
      bucket?.files.close()
    }
  } finally {
    source.close()
  }
}

/** Never says what was given: there is a password in it. */
function urlOf(input: string): string {
  if (input === '') throw new UsageError('Name the database: --to or DATABASE_URL.')
  const url = optionTable.databaseUrl.read(input.trim())
  if (!url) throw new UsageError('--to must be postgres://user:password@host:port/database.')
  return url
}

async function openBucket({ assetsUrl }: Options, { clock }: Terminal): Promise<Bucket | undefined> {
  if (assetsUrl === '') return undefined
  let next = ''
  const newName = () => next
  const files = await openAssetBucket({ address: parseBucketUrl(assetsUrl), newName, clock })
  return {
    files,
    nameNext: (name) => {
      next = name
    },
  }
}

/** What was refused before anything was done needs something else than another try. */
function toBeContinued(error: unknown): unknown {
  if (error instanceof QuoinError && error.code === 'CONFLICT') return error
  const message = error instanceof Error ? error.message : String(error)
  const sentence = message.endsWith('.') ? message : `${message}.`
  return new Error(`${sentence} What was copied stays; run the same command again and it goes on.`, {
    cause: error,
  })
}

interface Place {
  readonly url: string
  readonly folder: string
  readonly hasBucket: boolean
}

function finish({ comparisons, assets, isFinished }: CopyReport, terminal: Terminal, place: Place): number {
  terminal.print(tableOf(comparisons))
  terminal.print('')
  terminal.print(filesLine(assets, place))
  if (isFinished) {
    const { host, pathname } = new URL(place.url)
    terminal.print(
      `Done: ${host}${pathname} contains everything of ${place.folder}. Start the nodes with DATABASE_URL, and no server on the folder.`,
    )
    const key = join(place.folder, SECRETS_KEY_FILE)
    if (existsSync(key))
      terminal.print(`Secrets need their key: start every node with the text of ${key} as QUOIN_SECRETS_KEY.`)
    return 0
  }
  const names = comparisons.filter((one) => !isEqual(one)).map(({ title }) => title)
  terminal.complain(
    `Not equal: ${names.join(', ')}. Another program writes to the database. No node starts on it until another quoin migrate finds no difference.`,
  )
  return 1
}

/** Title, rows and the beginning of the checksum of each part; both sides of those that differ. */
function tableOf(comparisons: readonly Comparison[]): string {
  const width = Math.max(7, ...comparisons.map(({ title }) => title.length)) + 2
  const line = (title: string, rows: string, sha256: string, state: string) =>
    `${title.padEnd(width)}${rows.padStart(12)}  ${sha256.padEnd(12)}  ${state}`
  const side = (title: string, { rows, sha256 }: Comparison['source'], state: string) =>
    line(title, count(rows), sha256.slice(0, 12), state)
  return [
    line('Storage', 'Rows', 'SHA-256', ''),
    ...comparisons.flatMap((one) =>
      isEqual(one)
        ? [side(one.title, one.source, 'equal')]
        : [side(one.title, one.source, 'in the folder: DIFFERENT'), side('', one.target, 'in PostgreSQL')],
    ),
  ]
    .map((row) => row.trimEnd())
    .join('\n')
}

function filesLine({ files, bytes, inBucket }: CopiedFiles, { folder, hasBucket }: Place): string {
  const ours = `${count(files)} uploaded ${files === 1 ? 'file' : 'files'} (${count(bytes)} bytes)`
  const others = inBucket > 0 ? ` ${count(inBucket)} were in a bucket before.` : ''
  if (hasBucket)
    return `Files: ${ours} of ${join(folder, 'assets')} are in the bucket, with the same sizes.${others}`
  if (inBucket > 0)
    return `Files: ${ours} stay in ${join(folder, 'assets')}.${others} Start the nodes with the same QUOIN_ASSETS_URL.`
  if (files === 0) return 'Files: nothing was ever uploaded.'
  return `Files: QUOIN_ASSETS_URL is not set, so ${ours} stay in ${join(folder, 'assets')}: only a node with QUOIN_DATA=${folder} can serve them.`
}

/**
 * The longest turn of the event loop while a workbook (XLSX) is written and read: `node bench/sheets.ts [rows]`. In processor time
 * of the main thread between two turns, so that other work on the machine does not count.
 */
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type Cell, xlsxFile } from '../src/blocks/rows/xlsx-file.ts'
import { xlsxRows } from '../src/blocks/rows/xlsx-rows.ts'

const count = Number(process.argv[2] ?? 200_000)
const directory = await mkdtemp(join(tmpdir(), 'quoin-bench-'))
const path = join(directory, 'rows.xlsx')

async function* rows(): AsyncGenerator<readonly Cell[]> {
  yield ['number', 'name', 'price', 'sold', 'note']
  for (let at = 0; at < count; at++)
    yield [at, `good ${at}`, at / 4, at % 2 === 0, `a text of some words, the ${at}th, with <marks> & more`]
}

async function measured(title: string, work: () => Promise<number>): Promise<void> {
  let longest = 0
  let running = true
  let before = process.threadCpuUsage()
  const look = () => {
    const { user, system } = process.threadCpuUsage(before)
    longest = Math.max(longest, user + system)
    before = process.threadCpuUsage()
    if (running) setImmediate(look)
  }
  setImmediate(look)
  const began = performance.now()
  const bytes = await work()
  await new Promise((resolve) => setImmediate(resolve))
  running = false
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  const megabytes = (bytes / 1_000_000).toFixed(1)
  console.log(
    `${title}: ${count} rows, ${megabytes} MB, ${seconds} s, longest turn ${(longest / 1000).toFixed(1)} ms`,
  )
}

try {
  // Loaded with the first workbook.
  await measured('loaded', async () => {
    await Promise.all([import('@zip.js/zip.js'), import('saxes')])
    return 0
  })
  await measured('written', async () => {
    await pipeline(xlsxFile(rows()), createWriteStream(path))
    return (await stat(path)).size
  })
  await measured('read', async () => {
    const { size } = await stat(path)
    let read = 0
    for await (const row of xlsxRows({ size, read: (start, end) => createReadStream(path, { start, end }) }))
      read += row.cells.length > 0 ? 1 : 0
    if (read !== count + 1) throw new Error(`${read} rows were read.`)
    return size
  })
} finally {
  await rm(directory, { recursive: true })
}

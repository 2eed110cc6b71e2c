/**
 * Addresses of files that are not public: a page that shows a document shows the way to its files too. The address is
 * signed, so that nobody can make one up, and holds for the day on which the page was made and the next one.
 */
import type { Assets } from '../../engine/assets.ts'
import { QuoinError } from '../../shared/errors.ts'
import { isGuid } from '../../shared/guid.ts'
import { isJsonObject, type JsonValue } from '../../shared/json.ts'
import type { PageNode } from '../../shared/page-content.ts'
import type { PageTable } from '../../shared/page-table.ts'
import { assetFile } from '../asset-file.ts'
import { sendFile } from '../file-reply.ts'
import type { App } from '../route-family.ts'
import type { PageSecret } from './page-secret.ts'

const DAY = 86_400_000
const PURPOSE = 'file'

/** The node with addresses beside the files among its values. */
export function withFileAddresses(node: PageNode, secret: PageSecret, now: number): PageNode {
  if (node.kind === 'table') return tableWith(node, secret, now)
  if (node.kind !== 'detail') return node
  const items = node.items.map((item) =>
    isFileFormat(item.format) ? { ...item, value: addressed(item.value, secret, now) } : item,
  )
  return { ...node, items }
}

function tableWith(table: PageTable, secret: PageSecret, now: number): PageTable {
  const files = new Set(table.columns.flatMap(({ format }, at) => (isFileFormat(format) ? [at] : [])))
  if (files.size === 0) return table
  const rows = table.rows.map((row) => ({
    ...row,
    cells: row.cells.map((value, at) => (files.has(at) ? addressed(value, secret, now) : value)),
  }))
  return { ...table, rows }
}

function isFileFormat(format: string): boolean {
  return format === 'file' || format === 'image'
}

function addressed(value: JsonValue, secret: PageSecret, now: number): JsonValue {
  if (!isJsonObject(value) || typeof value.guid !== 'string' || !isGuid(value.guid)) return value
  const { url: _, ...rest } = value
  return { ...rest, href: fileAddress(secret, value.guid, now) }
}

function fileAddress(secret: PageSecret, guid: string, now: number): string {
  const day = Math.floor(now / DAY)
  return `/_pages/files/${guid}/${day}/${secret.sign(PURPOSE, `${guid} ${day}`)}`
}

export function privateFileRoute(app: App, assets: Assets, secret: PageSecret, clock: () => number): void {
  app.get<{ Params: { guid: string; day: string; signature: string } }>(
    '/_pages/files/:guid/:day/:signature',
    { config: { permission: 'public', entityTag: false }, schema: { hide: true } },
    async (request, reply) => {
      const { guid, day, signature } = request.params
      const age = Math.floor(clock() / DAY) - Number(day)
      const fits = (age === 0 || age === 1) && secret.verify(PURPOSE, `${guid} ${day}`, signature)
      if (!fits) throw new QuoinError('NOT_FOUND', 'There is no such file, or its address is too old.')
      const record = await assets.get(guid)
      // Like all files: what a browser could run is offered for saving, in a cage.
      reply.header('cache-control', 'private, max-age=3600')
      return sendFile(request, reply, assetFile(assets, record))
    },
  )
}

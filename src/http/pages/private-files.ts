/**
 * Addresses of files that are not public: a page that shows a document shows the way to its files too. The address is
 * signed, so that it cannot be forged, and holds for the day on which the page was made and the next one.
 */
import type { Assets } from '../../records/assets/assets.ts'
import { MOST_IMAGE_BYTES } from '../../records/assets/convert-image.ts'
import { filesToShow, type PrivateFile } from '../../records/assets/page-uploads.ts'
import type { SigningSecret } from '../../records/secrets/signing-secret.ts'
import { type ImageQuery, imageQuerySchema } from '../../shared/api/data/assets.ts'
import { QuoinError } from '../../shared/errors.ts'
import { isReadableImage } from '../../shared/files/image-request.ts'
import { isGuid } from '../../shared/guid.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import type { PageNode } from '../../shared/pages/page-content.ts'
import type { PageTable } from '../../shared/pages/page-table.ts'
import type { Session } from '../../storage/database.ts'
import { sendAsset } from '../replies/file-reply.ts'
import type { App } from '../server/route-family.ts'

const DAY = 86_400_000
const PURPOSE = 'file'
/** Pixels. Pages show images of documents 40 high, on a telephone with three pixels for each. */
const THUMBNAIL = 128

/** Gives nodes addresses beside the files among their values, where the page may show them: see `page-uploads.ts`. */
export async function fileAddresses(
  session: Session,
  nodes: readonly PageNode[],
  sign: { readonly secret: SigningSecret; readonly now: number; readonly assets: Pick<Assets, 'resizes'> },
): Promise<(node: PageNode) => PageNode> {
  const held: PrivateFile[] = []
  let hasImages = false
  for (const node of nodes)
    withFiles(node, (value, file, format) => {
      held.push(file)
      hasImages ||= format === 'image'
      return value
    })
  const isShown = await filesToShow(session, held)
  const resizes = hasImages && (await sign.assets.resizes())
  return (node) =>
    withFiles(node, (value, file, format) => {
      const { href: _unsigned, ...unsigned } = value
      if (!isShown(file)) return unsigned
      const { url: _, ...rest } = unsigned
      const size = resizes && format === 'image' && isSmallEnough(value) ? `?height=${THUMBNAIL}` : ''
      return { ...rest, href: `${fileAddress(sign.secret, file.asset, sign.now)}${size}` }
    })
}

/** By what the document says of its file. Others are shown whole, as SVG. */
function isSmallEnough({ type, size }: JsonObject): boolean {
  return typeof type === 'string' && isReadableImage(type) && Number(size) <= MOST_IMAGE_BYTES
}

type FileFormat = 'file' | 'image'
type OnFile = (value: JsonObject, file: PrivateFile, format: FileFormat) => JsonValue

/** The node with each file among its values replaced. */
function withFiles(node: PageNode, onFile: OnFile): PageNode {
  if (node.kind === 'table') return tableWith(node, onFile)
  if (node.kind !== 'detail') return node
  const items = node.items.map((item) =>
    isFileFormat(item.format)
      ? { ...item, value: replaced(item.value, node.document, item.format, onFile) }
      : item,
  )
  return { ...node, items }
}

function tableWith(table: PageTable, onFile: OnFile): PageTable {
  const formats = table.columns.map(({ format }) => (isFileFormat(format) ? format : undefined))
  if (formats.every((format) => format === undefined)) return table
  const rows = table.rows.map((row) => ({
    ...row,
    cells: row.cells.map((value, at) => {
      const format = formats[at]
      return format ? replaced(value, row.key, format, onFile) : value
    }),
  }))
  return { ...table, rows }
}

function isFileFormat(format: string): format is FileFormat {
  return format === 'file' || format === 'image'
}

function replaced(
  value: JsonValue,
  document: string | undefined,
  format: FileFormat,
  onFile: OnFile,
): JsonValue {
  if (!isJsonObject(value) || typeof value.guid !== 'string' || !isGuid(value.guid)) return value
  return onFile(value, { asset: value.guid, document }, format)
}

function fileAddress(secret: SigningSecret, guid: string, now: number): string {
  const day = Math.floor(now / DAY)
  return `/_pages/files/${guid}/${day}/${secret.sign(PURPOSE, `${guid} ${day}`)}`
}

export function privateFileRoute(app: App, assets: Assets, secret: SigningSecret, clock: () => number): void {
  app.get<{ Params: { guid: string; day: string; signature: string }; Querystring: ImageQuery }>(
    '/_pages/files/:guid/:day/:signature',
    {
      config: { permission: 'public', entityTag: false },
      schema: { hide: true, querystring: imageQuerySchema },
    },
    async (request, reply) => {
      const { guid, day, signature } = request.params
      const age = Math.floor(clock() / DAY) - Number(day)
      const fits = (age === 0 || age === 1) && secret.verify(PURPOSE, `${guid} ${day}`, signature)
      if (!fits) throw new QuoinError('NOT_FOUND', 'There is no such file, or its address has expired.')
      const record = await assets.get(guid)
      // Like all files: what a browser could run is offered for saving, in a cage.
      reply.header('cache-control', 'private, max-age=3600')
      return sendAsset(request, reply, assets, record)
    },
  )
}

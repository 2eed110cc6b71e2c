import { type Static, Type } from 'typebox'
import { imageFits, imageFormats, LONGEST_SIDE } from '../../files/image-request.ts'
import { actorSchema, metaSchema, storedRecord } from '../record-schemas.ts'
import type { Wire } from '../wire.ts'

const place = {
  filename: Type.Optional(
    Type.String({ maxLength: 255, description: "The name; the file's own name if not given." }),
  ),
  directory: Type.Optional(
    Type.String({
      maxLength: 255,
      description:
        '`public` or a folder in it (`public/images`): public at `/static/…`. Any other name is private; `system_assets` if not given.',
    }),
  ),
}

/** Ignored parameters are those that older clients send. */
export const uploadQuerySchema = Type.Object({
  ...place,
  path: Type.Optional(
    Type.String({
      maxLength: 255,
      description: 'A folder in the directory: `directory=public&path=images/2026`.',
    }),
  ),
  action: Type.Optional(
    Type.String({
      maxLength: 64,
      description: 'Guid of a block: the file is stored in the folder `blueprints`.',
    }),
  ),
  filetype: Type.Optional(
    Type.String({
      maxLength: 255,
      description: 'Media type, if neither the content nor `content-type` shows it.',
    }),
  ),
  filesize: Type.Optional(Type.String({ description: 'Accepted from older clients and not used.' })),
})

const side = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: LONGEST_SIDE,
    description: 'Pixels, of images; rounded up to a step.',
  }),
)

/** An image as it is wanted. Other parameters are ignored, as always. */
export const imageQuerySchema = Type.Object({
  width: side,
  height: side,
  fit: Type.Optional(
    Type.Union(
      imageFits.map((fit) => Type.Literal(fit)),
      { description: '`inside`: all of the image; `cover`: cut to width and height.' },
    ),
  ),
  format: Type.Optional(
    Type.Union(
      imageFormats.map((format) => Type.Literal(format)),
      { description: 'That of the image if not given.' },
    ),
  ),
  quality: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, description: 'Rounded to 40, 60, 80 or 95; 80 if not given.' }),
  ),
})
export type ImageQuery = Static<typeof imageQuerySchema>

/** Of a signed link; whatever is wrong with it is 404. */
export const linkQuerySchema = Type.Object({
  ...imageQuerySchema.properties,
  expires: Type.Optional(
    Type.String({ maxLength: 20, description: 'Unix seconds until which the link holds.' }),
  ),
  save: Type.Optional(Type.String({ maxLength: 1, description: '`1`: browsers save the file.' })),
  signature: Type.Optional(
    Type.String({ maxLength: 100, description: 'Over the asset and the rest of the query.' }),
  ),
})

const uploadFormSchema = Type.Object({
  ...place,
  file: Type.Optional(Type.Unsafe<unknown>({ type: 'string', format: 'binary' })),
})

const assetRecord = Type.Object({
  _meta: metaSchema,
  name: Type.String(),
  type: Type.String({ description: 'Media type, from the content if possible.' }),
  size: Type.Integer({ description: 'Bytes.' }),
  sha256: Type.String({ description: 'Hash of the content, hexadecimal.' }),
  directory: Type.String(),
  public_path: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'Path below `/static/`; null if it is private.',
  }),
  assets_guid: Type.String({ description: 'The same as `_meta.guid`.' }),
  created_by: actorSchema,
})
export type Asset = Wire<typeof assetRecord>
export const assetSchema = storedRecord(assetRecord)

const bytes = { schema: Type.Unsafe<unknown>({ type: 'string', format: 'binary' }) }

/** A reply that is a file: the map of types keeps its errors JSON. */
export const fileResponse = {
  description: 'The bytes, with their own type. With the header `range`, status 206 and only those.',
  content: { 'application/octet-stream': bytes },
}

/** A form with the file, or the file alone. */
export const uploadBody = {
  content: { 'multipart/form-data': { schema: uploadFormSchema }, 'application/octet-stream': bytes },
}

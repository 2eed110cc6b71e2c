import { type Static, Type } from 'typebox'
import { nullableText } from '../record-schemas.ts'

export const previewPageSchema = Type.Object(
  {
    page: Type.String({ maxLength: 64, description: 'Guid of the page block.' }),
    parameters: Type.Optional(
      Type.Record(Type.String({ maxLength: 100 }), Type.String({ maxLength: 1_000 }), {
        maxProperties: 20,
        description: 'Parameters of the path, by name.',
      }),
    ),
    query: Type.Optional(
      Type.String({ maxLength: 4_000, description: 'Query of the address, without the question mark.' }),
    ),
    theme: Type.Optional(Type.Enum(['light', 'dark', 'auto'], { description: 'Default: `auto`.' })),
  },
  { additionalProperties: false },
)
export type PreviewPage = Static<typeof previewPageSchema>

export const pagePreviewSchema = Type.Object({
  /** Null if the flow showed no page. */
  html: nullableText,
  /** Where the flow sends the browser instead of showing a page. */
  redirect: nullableText,
  failure: Type.Union(
    [
      Type.Object({
        message: Type.String(),
        block: nullableText,
        pin: nullableText,
      }),
      Type.Null(),
    ],
    { description: 'The first error of the run, with its block where it is known.' },
  ),
})
export type PagePreview = Static<typeof pagePreviewSchema>

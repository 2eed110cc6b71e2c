import { type Static, Type } from 'typebox'

export const preparationSchema = Type.Object(
  {
    storage: Type.String({ description: 'Its name.' }),
    kind: Type.Union([Type.Literal('index'), Type.Literal('text')]),
    done: Type.Integer({ description: 'Documents (free text) or blocks of the table (index) so far.' }),
    total: Type.Integer({ description: 'Estimated total; 0 while it is unknown.' }),
  },
  { description: 'An index or free text that a storage with many documents gets.' },
)

export type PreparationRecord = Static<typeof preparationSchema>

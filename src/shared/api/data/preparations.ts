import { type Static, Type } from 'typebox'

export const preparationSchema = Type.Object(
  {
    storage: Type.String({ description: 'Its name.' }),
    kind: Type.Union([Type.Literal('index'), Type.Literal('text'), Type.Literal('columns')], {
      description: '`columns`: values of indexed fields move to columns, in the background.',
    }),
    done: Type.Integer({
      description: 'Documents (free text, columns) or blocks of the table (index) so far.',
    }),
    total: Type.Integer({ description: 'Estimated total; 0 while it is unknown.' }),
  },
  { description: 'An index, free text or columns that a storage with many documents gets.' },
)

export type PreparationRecord = Static<typeof preparationSchema>

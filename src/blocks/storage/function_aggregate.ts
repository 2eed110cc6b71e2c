import { andThen } from '../../shared/maybe-promise.ts'
import { MOST_GROUPS } from '../../storage/aggregate/aggregate.ts'
import { asSettings } from '../as-user.ts'
import { defineFlow, PinError } from '../block.ts'
import { builderStorage } from '../names.ts'
import { whereIn } from '../pins/query-pins.ts'
import { referringQuery } from '../referring-query.ts'
import { type AggregatePins, aggregateColumns, readAggregate } from './aggregate-pins.ts'

export default defineFlow({
  identifier: 'function_aggregate',
  title: 'Aggregate documents',
  words: 'Aggregate {storage}[ where {where}][ by {group}]',
  summary:
    'Counts, adds up and averages the documents of a storage in groups, in the database. Sums and averages are exact: 0.1 + 0.2 is 0.3.',
  effects: { reads: true, cacheable: true },
  in: {
    storage: { type: 'storage', required: true, help: 'The storage whose documents are read.' },
    where: {
      ...whereIn,
      help: 'Condition on each document, doc: doc.status == "paid" && doc.price >= 10. Empty: all documents.',
    },
    group: {
      type: 'array',
      help: 'What makes a group, at most 6: names of fields; parts of a date (year, quarter, month, week, day, hour) as { "field": "at", "part": "month", "zone": "Europe/Berlin" }; ranges of numbers as { "field": "price", "ranges": [10, 100] }. With as the column gets another name. Empty: one row for all documents.',
    },
    values: {
      type: 'array',
      help: 'What is worked out for each group, at most 20: [{ "count": "*", "as": "n" }, { "sum": "price", "as": "total" }], with count, count_distinct, sum, average, min or max. Empty: the number of documents, as count.',
    },
    order: {
      type: 'array',
      help: 'Order of the rows by names of groups and values: ["total desc"] or [{ "total": "desc" }]. Empty: by the groups. Rows without a value come last.',
    },
    limit: {
      type: 'number',
      default: 1000,
      min: 0,
      max: MOST_GROUPS,
      integer: true,
      help: 'Maximum number of rows.',
    },
  },
  out: {
    rows: {
      type: 'array',
      help: 'One object for each group: the values of its groups, null where a document has none, and its values.',
    },
    total: { type: 'number', help: 'Number of groups, also of those beyond the limit.' },
  },
  settings: asSettings,
  check({ group, values, order }) {
    // Names of an order can be checked only beside the groups and values that they are of.
    readAggregate({ group, values, order: group && values ? order : undefined }, 'UTC')
  },
  columns: ({ group, values }) => aggregateColumns({ group, values, order: undefined }),
  searches({ group, values }) {
    return { sorts: [], filters: [], text: false, read: fieldsRead({ group, values }) }
  },
  run(inputs, context) {
    const storage = builderStorage(inputs.storage)
    const asked = readAggregate(inputs, context.timeZone)
    const read = new Map([
      ['group', asked.groups.map(({ field }) => field)],
      ['values', asked.values.flatMap(({ field }) => field ?? [])],
    ])
    return andThen(
      referringQuery(context, storage, { query: undefined, where: inputs.where, read }),
      (query) =>
        andThen(
          context.session.aggregate(storage, { ...asked, query, limit: inputs.limit }),
          ({ rows, total }) => {
            if (total === undefined)
              throw new PinError(
                'group',
                `gives more than ${MOST_GROUPS.toLocaleString('en-US')} groups: narrow where, or group by less`,
              )
            return { rows, total }
          },
        ),
    )
  },
})

/** Nothing where what is given cannot be read: then the block fails anyway. */
function fieldsRead(pins: Pick<AggregatePins, 'group' | 'values'>): readonly string[] {
  try {
    const { groups, values } = readAggregate({ ...pins, order: undefined }, 'UTC')
    return [...groups, ...values].flatMap(({ field }) => field ?? [])
  } catch {
    return []
  }
}

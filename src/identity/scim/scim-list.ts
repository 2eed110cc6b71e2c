/** Pages of a list (RFC 7644, 3.4.2.4), and beyond 10,000 entries by cursor (RFC 9865). Every page is read alone, so a list may be of any length. */
import { QuoinError } from '../../shared/errors.ts'
import { isGuid } from '../../shared/guid.ts'
import type { JsonObject } from '../../shared/json.ts'
import type { Query, Scalar } from '../../shared/query.ts'
import type { Session } from '../../storage/database.ts'
import { findPage } from '../../storage/find-documents.ts'
import { type Operator, textComparison } from './scim-filter.ts'

const MOST_RESULTS = 200
const USUAL_RESULTS = 100
const MOST_OFFSET = 10_000

/** The parameters of a list, as they were sent. */
export interface ScimList {
  readonly filter?: string | undefined
  readonly startIndex?: string | undefined
  readonly count?: string | undefined
  readonly cursor?: string | undefined
}

interface ScimPage {
  readonly records: readonly JsonObject[]
  /** What the reply says beside its resources. */
  readonly about: JsonObject
}

/** A whole number as a parameter; what is too small counts as the least, as the standard says. */
function numberOf(name: string, text: string | undefined, usual: number): number {
  if (text === undefined || text === '') return usual
  if (!/^-?\d{1,9}$/.test(text))
    throw new QuoinError('INVALID_QUERY', `${name} must be a whole number.`, { fields: [name] })
  return Number(text)
}

export async function scimPage(
  session: Session,
  storage: string,
  query: Query,
  { startIndex, count, cursor }: ScimList,
): Promise<ScimPage> {
  const start = Math.max(1, numberOf('startIndex', startIndex, 1))
  const limit = Math.min(MOST_RESULTS, Math.max(0, numberOf('count', count, USUAL_RESULTS)))
  if (start - 1 > MOST_OFFSET)
    throw new QuoinError(
      'INVALID_QUERY',
      `startIndex must be at most ${MOST_OFFSET + 1}. Use cursor for what comes behind.`,
      {
        fields: ['startIndex'],
      },
    )
  // An empty cursor asks for the first page.
  const after = cursor ? { after: cursor } : {}
  const sort = [{ field: '_meta.cms', order: 'asc', missing: 'last' }] as const
  const offset = cursor === undefined ? start - 1 : 0
  const page = await findPage(session, storage, {
    query,
    sort,
    limit,
    offset,
    includeRemoved: false,
    ...after,
  })
  const next = cursor !== undefined && page.records.length === limit ? page.next : undefined
  return {
    records: page.records,
    about: {
      totalResults: page.total,
      itemsPerPage: page.records.length,
      ...(cursor === undefined ? { startIndex: start } : next !== undefined && { nextCursor: next }),
    },
  }
}

/** What both kinds of resources are found by. */
export function commonComparison(path: string, operator: Operator, value: Scalar): Query | undefined {
  if (path === 'id' && operator === 'eq')
    return { kind: 'term', field: '_meta.guid', value: isGuid(String(value)) ? String(value) : '' }
  if (path === 'externalid') return textComparison('external_id', operator, String(value))
  const field = path === 'meta.lastmodified' ? '_meta.ums' : path === 'meta.created' ? '_meta.cms' : undefined
  if (field === undefined || operator === 'pr') return undefined
  if (operator === 'co' || operator === 'sw' || operator === 'ew') return undefined
  const time = Date.parse(String(value))
  if (Number.isNaN(time)) return undefined
  if (operator === 'eq') return { kind: 'term', field, value: time }
  const bound = ({ gt: 'gt', ge: 'gte', lt: 'lt', le: 'lte' } as const)[operator]
  return { kind: 'range', field, bounds: { [bound]: time } }
}

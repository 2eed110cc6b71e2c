import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { DocumentSearch } from '../../../shared/api/data/documents.ts'
import { bodyOf, readListAddress, shownPage, withWords } from './list-address.ts'
import { emptyTrail, listPages, type PageTrail } from './list-pages.ts'

const LIMIT = 50

/** As the API serves a list whose records are the numbers from 0 on. */
function serve({ limit = 0, offset = 0, after }: DocumentSearch, total: number) {
  if (offset > 10_000) throw new Error('offset must be a whole number from 0 to 10,000')
  const first = after === undefined ? offset : Number(after.slice(1))
  const end = Math.min(first + limit, total)
  return { first, cursor: end < total && end > first ? `c${end}` : '' }
}

/** Opens what the words say, and gives the pages that can be opened from there. */
function open(words: URLSearchParams, total: number, trail: PageTrail) {
  const address = readListAddress(words)
  const page = shownPage(address, LIMIT)
  const body = bodyOf(address, LIMIT)
  const { first, cursor } = serve(body, total)
  const pages = listPages(trail, 'list', { page, limit: LIMIT, total, after: body.after ?? '', cursor })
  return { page, first, pages }
}

describe('the pages of a list of 100,001 records', () => {
  const total = 100_001

  it('page 2001 has no button; asked for without a cursor, the last page with a number is shown as what it is', () => {
    const { page, first, pages } = open(new URLSearchParams('page=2001'), total, emptyTrail())
    expect([page, first]).toEqual([201, 10_000])
    expect([pages.last, pages.canOpen(2001), pages.canOpen(202), pages.canOpen(203)]).toEqual([
      202,
      false,
      true,
      false,
    ])
    expect(open(new URLSearchParams(), total, emptyTrail()).pages.last).toBe(201)
  })

  it('whichever way it is walked, a page shows the records that its number says', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(0, 49, 50, 9_999, 10_050, 10_051, total),
        fc.array(fc.constantFrom('next', 'next', 'last', 'previous', 'first', 'middle'), { maxLength: 60 }),
        (records, steps) => {
          const trail = emptyTrail()
          let words = new URLSearchParams(records > 10_000 ? 'page=201' : '')
          for (const step of steps) {
            const { page, first, pages } = open(words, records, trail)
            expect(first).toBe((page - 1) * LIMIT)
            const middle = Math.ceil((page + pages.last) / 2)
            const requested =
              { next: page + 1, last: pages.last, previous: page - 1, first: 1, middle }[step] ?? 1
            if (requested < 1 || requested > pages.last || !pages.canOpen(requested)) continue
            words = withWords(words, pages.wordsOf(requested))
          }
        },
      ),
    )
  })

  it('a different list does not use cursors of the former one', () => {
    const trail = emptyTrail()
    const shown = { page: 201, limit: LIMIT, total, after: '', cursor: 'c10050' }
    expect(listPages(trail, 'a', shown).canOpen(202)).toBe(true)
    expect(listPages(trail, 'b', { ...shown, page: 1, cursor: '' }).canOpen(202)).toBe(false)
  })
})

import type { ComponentChildren } from 'preact'
import type { PageNode } from '../shared/pages/page-content.ts'
import type { PageMessages } from './messages.ts'

/** What every component gets beside its own node. */
export interface Drawing {
  readonly say: PageMessages
  /** BCP 47; decides how numbers and dates are written. */
  readonly locale: string
  /** IANA name: of the times that are shown. */
  readonly timeZone: string
  /** ISO 4217, for amounts that do not say theirs. */
  readonly currency: string
  /** Milliseconds since 1970: "3 days ago" counts from here. */
  readonly now: number
  /** Heading level of a title that stands here: 2 on the page itself, 3 in a card, … */
  readonly level: number
  /** Whether it stands beside something else, rather than over the whole width of the page. */
  readonly narrow: boolean
  /** The nodes, one component each. Here rather than imported, because containers hold any node. */
  draw(nodes: readonly PageNode[]): ComponentChildren
  /** The same a heading level deeper. */
  deeper(): Drawing
  /** The same beside something else. */
  beside(): Drawing
  /** An id that is on the page once: the wish itself, or with a number. */
  id(wish: string): string
}

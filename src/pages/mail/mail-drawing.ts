import type { ComponentChild } from 'preact'
import type { PageNode } from '../../shared/pages/page-content.ts'
import type { Writing } from '../value-text.ts'

/** What each part of a mail gets beside its own node. */
export interface MailDrawing extends Writing {
  /** Heading level of a title that stands here. */
  readonly level: number
  /** The whole address of a link or an image; undefined for one that mail must not have, so that its text is left. */
  address(href: string): string | undefined
  draw(nodes: readonly PageNode[]): ComponentChild[]
  /** The same a heading level deeper. */
  deeper(): MailDrawing
}

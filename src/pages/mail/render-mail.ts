/**
 * A mail from the parts of a page: HTML that mail programs can show, and the same as plain text. Preact escapes every text and
 * attribute. No script, no form and no style sheet from elsewhere is in it, and every address is a whole one.
 */
import { type ComponentChild, h } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { currencyOf } from '../../shared/fields/currencies.ts'
import type { PageNode } from '../../shared/pages/page-content.ts'
import { messagesFor } from '../messages.ts'
import { directionOf } from '../pick-locale.ts'
import { wholeAddress } from './mail-address.ts'
import type { MailDrawing } from './mail-drawing.ts'
import { mailNode } from './mail-nodes.ts'
import { sheet, styles } from './mail-styles.ts'
import { mailText } from './mail-text.ts'

export interface MailPage {
  /** Only kinds that `mailProblem` knows; tables with their rows. */
  readonly content: readonly PageNode[]
  readonly title: string
  /** BCP 47. */
  readonly locale: string
  /** IANA name: of the times that are shown. */
  readonly timeZone: string
  /** The address at which users reach the cluster, without a slash at its end; empty for none. */
  readonly site: string
  /** Milliseconds since 1970, for what is written as "3 days ago". */
  readonly now: number
}

/** What no reader can see, and what a job would write with six characters each. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
const controls = /[\u0000-\u0008\u000b-\u001f\u007f]/g

export function renderMail(page: MailPage): { readonly html: string; readonly text: string } {
  const { content, locale, timeZone, site, now } = page
  const writing = { say: messagesFor(locale), locale, timeZone, currency: currencyOf(locale), now }
  const address = (href: string) => wholeAddress(href, site)
  const at = (level: number): MailDrawing => {
    const drawing: MailDrawing = {
      ...writing,
      level,
      address,
      draw: (nodes) => nodes.map((node) => mailNode(node, drawing)),
      deeper: () => at(Math.min(level + 1, 4)),
    }
    return drawing
  }
  const html = `<!doctype html>${renderToString(whole(page, at(2).draw(content)))}`
  const text = mailText(content, { ...writing, address })
  return { html: clean(html), text: clean(text) }
}

function clean(text: string): string {
  return text.replace(controls, '').toWellFormed()
}

function whole({ title, locale }: MailPage, content: ComponentChild) {
  const table = { role: 'presentation', cellpadding: '0', cellspacing: '0', border: '0' }
  const inner = h(
    'table',
    { ...table, width: '640', class: 'q-sheet', style: styles.sheet },
    h('tr', null, h('td', { class: 'q-content', style: styles.content }, content)),
  )
  return h(
    'html',
    { lang: locale, dir: directionOf(locale) },
    h(
      'head',
      null,
      h('meta', { charset: 'utf-8' }),
      h('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' }),
      h('meta', { name: 'color-scheme', content: 'light dark' }),
      h('meta', { name: 'supported-color-schemes', content: 'light dark' }),
      h('title', null, title),
      h('style', null, sheet),
    ),
    h(
      'body',
      { style: styles.body },
      h(
        'table',
        { ...table, width: '100%', class: 'q-back', style: styles.back },
        h('tr', null, h('td', { align: 'center', class: 'q-margin', style: styles.margin }, inner)),
      ),
    ),
  )
}

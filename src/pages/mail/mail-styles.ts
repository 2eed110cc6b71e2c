import type { ComponentChild } from 'preact'
import type { PageNode } from '../../shared/pages/page-content.ts'
import type { Writing } from '../value-text.ts'

/**
 * How a mail looks. Many mail programs read no style sheet, so each element has its styles in itself, with the light colours; the
 * sheet below turns them dark where the program knows how. Each style is written with every cell: a byte here counts often.
 */
const font = "-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"

export const styles = {
  body: 'margin:0;padding:0;background:#f5f7f7',
  back: 'background:#f5f7f7',
  margin: 'padding:24px 12px',
  sheet: 'width:100%;max-width:640px;background:#fff;border:1px solid #dce3e1;border-radius:8px',
  content: `padding:28px;font:16px/1.5 ${font};color:#16211f;overflow-wrap:anywhere`,
  full: 'width:100%;border-collapse:collapse;margin:0 0 16px',
  /** Words stay whole: `anywhere` of the content would make each column as narrow as a letter. */
  rows: 'width:100%;border-collapse:collapse;margin:0 0 16px;overflow-wrap:break-word',
  manyColumns: 'width:100%;border-collapse:collapse;margin:0 0 16px;overflow-wrap:break-word;font-size:14px',
  cell: 'border-bottom:1px solid #dce3e1',
  /** Of a text without blanks that is wider than a column should be. */
  longCell: 'border-bottom:1px solid #dce3e1;overflow-wrap:anywhere',
  dayCell: 'border-bottom:1px solid #dce3e1;white-space:nowrap',
  number: 'border-bottom:1px solid #dce3e1;text-align:right;white-space:nowrap',
  head: 'border-bottom:2px solid #7d8d89;font-weight:600;vertical-align:bottom;overflow-wrap:normal',
  term: 'border-bottom:1px solid #dce3e1;color:#53625f;width:35%',
  column: 'vertical-align:top;padding:0 12px 0 0',
  paragraph: 'margin:0 0 16px;white-space:pre-line',
  lead: 'margin:0 0 16px;white-space:pre-line;font-size:18px',
  soft: 'margin:0 0 16px;white-space:pre-line;font-size:14px;color:#53625f',
  code: 'margin:0 0 16px;padding:12px;background:#eef2f1;border-radius:6px;font:14px/1.5 monospace;white-space:pre-wrap',
  list: 'margin:0 0 16px;padding:0 0 0 24px',
  item: 'margin:0 0 4px',
  link: 'color:#0b6a63',
  image: 'display:block;max-width:100%;height:auto;border:0;margin:0 0 8px',
  thumb: 'display:block;max-width:96px;max-height:64px;border:0',
  card: 'padding:16px 16px 0;border:1px solid #dce3e1;border-radius:8px',
  space: 'font-size:16px;line-height:16px',
  figure: 'margin:0 0 8px;font-size:30px;line-height:1.2;font-weight:600',
} as const

const heading = 'margin:0 0 12px;line-height:1.3;font-weight:600;font-size:'
export const headingStyles = ['26px', '20px', '17px', '16px'].map((size) => `${heading}${size}`)

export const toneColours = {
  neutral: ['#eef2f1', '#16211f'],
  info: ['#e7f0fb', '#1f589f'],
  success: ['#e4f4ea', '#1b6b3b'],
  warning: ['#fdf2da', '#7f5200'],
  danger: ['#fcebe9', '#b0271d'],
} as const

/** The tones of an alert and a badge, in the colours of the theme of pages. */
const darkTones = {
  neutral: ['#1f2929', '#e7eeec'],
  info: ['#14273f', '#8fbcf3'],
  success: ['#14301f', '#79d29b'],
  warning: ['#33270d', '#e9bd66'],
  danger: ['#3a1a17', '#ff9a8f'],
} as const

const darkTone = Object.entries(darkTones)
  .map(([tone, [ground, ink]]) => `.q-${tone}{background:${ground}!important;color:${ink}!important}`)
  .join('')

const narrow =
  '.q-margin{padding:0!important}.q-content{padding:20px 16px!important}.q-sheet{border:0!important;border-radius:0!important}.q-rows{font-size:14px!important}.q-rows td,.q-rows th{padding:6px 4px!important}.q-many{font-size:12px!important}.q-many td,.q-many th{padding:6px 2px!important}.q-many td{white-space:normal!important}.q-column{display:block!important;width:100%!important;padding:0!important}'

const dark =
  'body,.q-back{background:#0f1515!important}.q-sheet,.q-content{background:#171f1f!important;color:#e7eeec!important}.q-sheet,.q-card,td,th{border-color:#2b3736!important}.q-soft{color:#a2b2ae!important}.q-code{background:#1f2929!important}a{color:#5fc9bd!important}.q-primary{background:#5fc9bd!important;color:#05211e!important}.q-delete{background:#ff9a8f!important;color:#350a06!important}'

/** No quotes and no < in it: it stands in HTML as it is. */
export const sheet = `:root{color-scheme:light dark;supported-color-schemes:light dark}@media (max-width:480px){${narrow}}@media (prefers-color-scheme:dark){${dark}${darkTone}}`

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

/**
 * What a page shows: a tree of plain data. Blocks make it, the HTTP door completes it (errors, rows, addresses), and
 * `src/pages` draws it. No HTML anywhere in it: every text is text.
 *
 * A `state` pin carries {@link PageContent}: the nodes so far, last first, so that adding one costs the same on a long
 * page as on an empty one. {@link nodesOf} gives them in order.
 */
import type { JsonObject, JsonValue } from '../json.ts'
import type { ValueFormat } from '../value-format.ts'
import type { PageInput } from './page-input.ts'
import type { DataTable, PageTable } from './page-table.ts'
import type { TemplateSettings } from './page-template.ts'

/** Nodes below each other. Immutable. */
export interface PageContent {
  readonly before: PageContent | undefined
  readonly node: PageNode
}

export type Tone = 'neutral' | 'info' | 'success' | 'warning' | 'danger'

export interface PageLink {
  readonly label: string
  /** A path of our own or an absolute http(s), mailto: or tel: address: see {@link safeHref}. */
  readonly href: string
  /** The page that is being shown, or one above it. */
  readonly current?: boolean
}

export interface PageButton {
  readonly kind: 'button'
  readonly label: string
  /**
   * `submit` sends the form around it. `action` does something by itself: inside a form it sends that form without
   * checking it; elsewhere the door has put a form of its own around it. `link` goes to `href`.
   */
  readonly action: 'submit' | 'action' | 'link'
  /** Guid of the block; what it is known by when it is clicked. */
  readonly block?: string
  /** Set by the door on `submit` and `action`: what the HTML button sends. */
  readonly name?: string
  readonly value?: string
  readonly href?: string
  readonly tone?: 'primary' | 'plain' | 'danger'
  /** A question that has to be answered before it does anything. */
  readonly confirm?: string
}

export interface PageForm {
  readonly kind: 'form'
  /** `form_id` of the block; for a button of its own form: the block's guid. */
  readonly id: string
  /** Guid of the block whose `submit` goes on. */
  readonly block: string
  readonly label?: string
  readonly storage?: string
  /** Values that its inputs start with, by field. */
  readonly document?: JsonObject
  readonly content: readonly PageNode[]
  /** Its reply goes on to another site, so that the browser sends it and no script does. */
  readonly leaves?: true
  /** Set by the door, as are those below: where it is sent, always with the method post. */
  readonly action?: string
  /** Whether it holds a file: then it is sent as multipart/form-data. */
  readonly multipart?: boolean
  /** Hidden inputs. */
  readonly hidden?: readonly { readonly name: string; readonly value: string }[]
  /** The summary: it takes the focus. `input` is the id of the input that an error belongs to. */
  readonly errors?: readonly { readonly input?: string; readonly message: string }[]
  /** One button and nothing else: drawn as that button, in a row with its neighbours. */
  readonly plain?: boolean
  /** Only the script of pages can fill it: without JavaScript it is not shown. */
  readonly needsScript?: boolean
  /** What the script of pages solves before it is sent. */
  readonly proof?: string
}

/** One node of a page. Blocks of the group "pages" each make one kind. */
export type PageNode = Kinds & {
  /** Guid of its block; in previews only. */
  readonly madeBy?: string
}

type Kinds =
  | { readonly kind: 'heading'; readonly level: 1 | 2 | 3 | 4; readonly text: string }
  | { readonly kind: 'text'; readonly text: string; readonly variant?: 'normal' | 'lead' | 'muted' | 'code' }
  | {
      readonly kind: 'image'
      readonly src: string
      readonly alt: string
      readonly caption?: string
      /** A QR code, drawn in place of `src`: a path of SVG in a square of so many modules. */
      readonly modules?: { readonly size: number; readonly path: string }
      readonly width?: number
      readonly height?: number
    }
  | ({ readonly kind: 'link' } & PageLink)
  | {
      readonly kind: 'columns'
      readonly columns: readonly (readonly PageNode[])[]
      readonly widths?: readonly number[]
    }
  | {
      readonly kind: 'card'
      readonly title?: string
      readonly href?: string
      /** A number or a few words, shown large, for dashboards. */
      readonly figure?: string
      /** Of a figure that is a number. */
      readonly format?: ValueFormat
      readonly currency?: string
      /** Small, under the figure or the title. */
      readonly note?: string
      /** Of texts that are groups of rows: the field of a storage that was grouped by, as `orders.customer`. */
      readonly textsOf?: Readonly<Partial<Record<'title' | 'figure' | 'note', string>>>
      readonly content: readonly PageNode[]
    }
  | {
      readonly kind: 'tabs'
      readonly id: string
      readonly label?: string
      readonly tabs: readonly { readonly label: string; readonly content: readonly PageNode[] }[]
    }
  | {
      readonly kind: 'modal'
      readonly id: string
      readonly label: string
      readonly title: string
      readonly content: readonly PageNode[]
    }
  | {
      readonly kind: 'alert'
      readonly tone: Tone
      readonly title?: string
      readonly text: string
    }
  | { readonly kind: 'badge'; readonly text: string; readonly tone: Tone }
  | {
      readonly kind: 'list'
      readonly ordered?: boolean
      readonly items: readonly (readonly PageNode[])[]
      readonly empty?: string
    }
  | {
      readonly kind: 'detail'
      /** Guid of the document, if it is a stored one. */
      readonly document?: string
      readonly items: readonly {
        readonly label: string
        readonly value: JsonValue
        readonly format: ValueFormat
        readonly currency?: string
        readonly href?: string
      }[]
    }
  | {
      readonly kind: 'chart'
      readonly id: string
      readonly type: 'bar' | 'line' | 'pie'
      readonly title: string
      /** Of the column of labels, where the figures are a table. */
      readonly heading?: string
      readonly labels: readonly string[]
      /** The field of a storage that was grouped by, as `orders.customer`. */
      readonly labelsOf?: string
      readonly series: readonly { readonly name: string; readonly values: readonly (number | null)[] }[]
      readonly format?: ValueFormat
      readonly currency?: string
    }
  | { readonly kind: 'navigation'; readonly label?: string; readonly links: readonly PageLink[] }
  | { readonly kind: 'breadcrumb'; readonly links: readonly PageLink[] }
  | PageForm
  | PageInput
  | PageButton
  /** Before the door: which documents a table shows. Never reaches the renderer. */
  | DataTable
  /** After the door, or made by a block from documents that it has: what a table shows. */
  | PageTable

/** The content with one node more. The content that was is unchanged. */
export function appendNode(content: PageContent | undefined, node: PageNode): PageContent {
  return { before: content, node }
}

/** In the order in which they are shown. */
export function nodesOf(content: PageContent | undefined): readonly PageNode[] {
  const nodes: PageNode[] = []
  for (let at = content; at; at = at.before) nodes.push(at.node)
  return nodes.reverse()
}

/** The lists of nodes inside a node, to read them. */
function childrenOf(node: PageNode): readonly (readonly PageNode[])[] {
  switch (node.kind) {
    case 'form':
    case 'card':
    case 'modal':
      return [node.content]
    case 'columns':
      return node.columns
    case 'tabs':
      return node.tabs.map(({ content }) => content)
    case 'list':
      return node.items
    default:
      return []
  }
}

/** The node with other nodes inside, wherever it holds some. A kind that holds nodes is named here and in {@link childrenOf}. */
export function withChildren(
  node: PageNode,
  change: (nodes: readonly PageNode[]) => readonly PageNode[],
): PageNode {
  switch (node.kind) {
    case 'form':
    case 'card':
    case 'modal':
      return { ...node, content: change(node.content) }
    case 'columns':
      return { ...node, columns: node.columns.map(change) }
    case 'tabs':
      return { ...node, tabs: node.tabs.map((tab) => ({ ...tab, content: change(tab.content) })) }
    case 'list':
      return { ...node, items: node.items.map(change) }
    default:
      return node
  }
}

/** All nodes, those inside others too, in the order in which they are shown. */
export function* everyNode(nodes: readonly PageNode[]): Generator<PageNode, void> {
  for (const node of nodes) {
    yield node
    for (const inner of childrenOf(node)) yield* everyNode(inner)
  }
}

/** Whether a form in it was refused. */
export function hasErrors(nodes: readonly PageNode[]): boolean {
  for (const node of everyNode(nodes))
    if (node.kind === 'form' && node.errors !== undefined && node.errors.length > 0) return true
  return false
}

/** What a flow asks to be shown. Plain JSON. */
export interface ShownPage {
  readonly content: readonly PageNode[]
  /** undefined: the title that `state_page` says. */
  readonly title: string | undefined
  /** Name of a page template. */
  readonly template: string | undefined
  /** 200 unless the flow says so. */
  readonly status: number
}

/** How a page's flow answers: with a page, or by sending the browser elsewhere. Plain JSON. */
export type PageAnswer =
  | ({ readonly kind: 'show' } & ShownPage)
  | { readonly kind: 'redirect'; readonly to: string; readonly notice: PageNotice | undefined }

/** Says that something was done, on the page that is seen next. */
export interface PageNotice {
  readonly tone: Tone
  readonly text: string
}

/** Who looks at a page, as far as it is written on it. */
export interface PageUser {
  readonly username: string
  /** First and last name, or the user name. */
  readonly name: string
}

/** A page template, ready to be used. */
export interface PageTemplate {
  readonly name: string
  readonly settings: TemplateSettings
  /** Addresses of its style and script; undefined when it has none. */
  readonly css: string | undefined
  readonly js: string | undefined
}

/** All that `renderPage` gets: everything is decided, nothing is looked up any more. */
export interface PageView {
  /** IANA name: of the times that are shown. */
  readonly timeZone: string
  readonly title: string
  /** Completed by the door: no `datatable` among them. */
  readonly content: readonly PageNode[]
  readonly template: PageTemplate | undefined
  /** BCP 47: what the visitor asks for, one of those that have messages. */
  readonly locale: string
  /** BCP 47: what the page is written in, whatever its template says. */
  readonly language?: string | undefined
  readonly user: PageUser | undefined
  /** Path and query of this page, without parameters that are about one request only. */
  readonly url: string
  /** For forms that the layout draws itself: signing out. Hidden fields, by name. */
  readonly hidden: Readonly<Record<string, string>>
  /** What the visitor chose; `auto` follows the system. */
  readonly theme: 'light' | 'dark' | 'auto'
  /** Shown once, after a form was sent. */
  readonly notice: PageNotice | undefined
  /** Address of server-sent events about this page; undefined when nothing on it changes by itself. */
  readonly events: string | undefined
  /** Built-in pages and error pages: nothing may index them. */
  readonly noIndex: boolean
  /** A preview: it loads no scripts. */
  readonly still?: true
}

/**
 * An address that may stand in an `href`, or undefined: a path of our own (`/…`, `?…`, `#…`, `tasks/1`), http, https,
 * mailto or tel. Never `javascript:` and the like, however it is written.
 */
export function safeHref(address: string): string | undefined {
  const href = address.trim()
  // Browsers drop tabs, line ends and other controls inside a scheme.
  for (let at = 0; at < href.length; at += 1)
    if (href.charCodeAt(at) <= 0x20 || href.charCodeAt(at) === 0x7f) return undefined
  if (href === '' || href.startsWith('\\') || /^[/\\]{2}/.test(href)) return undefined
  const [, scheme] = /^([a-z][a-z0-9+.-]*):/i.exec(href) ?? []
  if (scheme === undefined) return href
  return /^(?:https?|mailto|tel)$/i.test(scheme) ? href : undefined
}

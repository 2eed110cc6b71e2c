/**
 * Completes what a flow wants shown: forms get their hidden inputs, values and errors, tables their rows, links their
 * checked addresses. What comes out is all that the renderer needs.
 */

import { parseFieldPath, valueAt } from '../../shared/field-path.ts'
import {
  everyNode,
  type PageButton,
  type PageForm,
  type PageNode,
  withChildren,
} from '../../shared/pages/page-content.ts'
import type { PageInput } from '../../shared/pages/page-input.ts'
import type { DataTable, PageTable } from '../../shared/pages/page-table.ts'
import type { FieldOf } from './field-rules-of.ts'
import { inputsOf } from './field-rules-of.ts'
import { inputWithRules, localBounds, shownValue } from './input-rule.ts'
import { type Posted, sentNames } from './posted.ts'

/** What was wrong with a form that was sent. */
export interface RefusedForm {
  /** Undefined: a button or table; the message stands above the page. */
  readonly form: string | undefined
  readonly posted: Posted
  readonly errors: ReadonlyMap<string, string>
  /** What is wrong with the form as a whole. */
  readonly messages: readonly string[]
}

type Hidden = NonNullable<PageForm['hidden']>

export interface PageMaking {
  readonly fieldOf: FieldOf
  /** Gives an input that offers documents their names as options. */
  readonly withChoices: (input: PageInput) => PageInput
  /** Path and query that forms are sent to. */
  readonly action: string
  /** For each form: the visitor's token, and a name that is used once. */
  readonly hidden: () => Hidden
  /** What more a form has that is filled in, once it is known which of its inputs are passwords or files. */
  readonly ticket?: ((form: string, hidden: Hidden, never: readonly string[]) => Hidden) | undefined
  /** What a browser has to solve before it sends a form; undefined for most. */
  readonly proof?: ((form: string) => string | undefined) | undefined
  readonly refused: RefusedForm | undefined
  /** Of the times in inputs. */
  readonly timeZone: string
  /** Gives the files among a node's values an address. */
  readonly filed: (node: PageNode) => PageNode
  /** What each data table shows. */
  readonly tables: ReadonlyMap<DataTable, PageTable>
}

export function completePage(nodes: readonly PageNode[], making: PageMaking): readonly PageNode[] {
  return new PageCompletion(making).all(nodes)
}

class PageCompletion {
  readonly #making: PageMaking
  /** No two elements of a page have one id. */
  readonly #ids = new Set<string>()
  /** How many ids were asked for by the same words: a page may have thousands of buttons of one block. */
  readonly #asked = new Map<string, number>()

  constructor(making: PageMaking) {
    this.#making = making
  }

  all(nodes: readonly PageNode[]): readonly PageNode[] {
    return nodes.map((node) => this.#complete(node))
  }

  #complete(node: PageNode): PageNode {
    switch (node.kind) {
      case 'form':
        return this.#form(node)
      case 'button':
        return node.action === 'action' ? this.#ownForm(node) : node
      case 'datatable':
        return this.#making.filed(this.#making.tables.get(node) ?? node)
      // An input that is in no form can be filled in, and goes nowhere.
      case 'input':
        return this.#drawnInput(node, undefined)
      default:
        return this.#making.filed(withChildren(node, (list) => this.all(list)))
    }
  }

  #form(node: PageForm): PageForm {
    const refused = this.#making.refused?.form === node.id ? this.#making.refused : undefined
    const errors: { readonly input?: string; readonly message: string }[] = []
    const never: string[] = []
    const inside = (list: readonly PageNode[]): readonly PageNode[] =>
      list.map((inner) => {
        if (inner.kind === 'button') return sendingButton(inner)
        // Forms in forms do not exist in HTML: a table in one only shows.
        if (inner.kind === 'datatable')
          return this.#making.filed(bare(this.#making.tables.get(inner)) ?? inner)
        if (inner.kind !== 'input') return this.#making.filed(withChildren(inner, inside))
        const drawn = this.#drawnInput(inner, node, refused)
        if (drawn.type === 'password' || drawn.type === 'file') never.push(drawn.name)
        if (drawn.error !== undefined)
          errors.push({ input: drawn.id ?? '', message: `${drawn.label}: ${drawn.error}` })
        return drawn
      })
    const content = inside(node.content)
    const known = new Set(inputsOf(node).map(({ name }) => name))
    for (const [field, message] of refused?.errors ?? []) if (!known.has(field)) errors.push({ message })
    const whole = (refused?.messages ?? []).map((message) => ({ message }))
    const hasFile = inputsOf(node).some((input) => input.type === 'file')
    const { document: _, ...rest } = node
    const proof = this.#making.proof?.(node.id)
    const hidden = [
      ...[...this.#making.hidden(), { name: sentNames.form, value: node.id }],
      ...(proof === undefined ? [] : [{ name: sentNames.proof, value: '' }]),
    ]
    return {
      ...rest,
      content,
      action: this.#making.action,
      hidden: [...hidden, ...(this.#making.ticket?.(node.id, hidden, never) ?? [])],
      ...(hasFile && { multipart: true }),
      ...(proof !== undefined && { proof }),
      ...((errors.length > 0 || whole.length > 0) && { errors: [...whole, ...errors] }),
    }
  }

  #drawnInput(node: PageInput, owner: PageForm | undefined, refused?: RefusedForm): PageInput {
    const made = this.#making.withChoices(node)
    const { input } = inputWithRules(made, owner && this.#making.fieldOf(owner, node))
    const { value: _, ...rest } = input
    const stored = node.value ?? (owner?.document && valueAt(owner.document, parseFieldPath(node.name)))
    const value = refused
      ? typedAgain(input, refused.posted)
      : shownValue(input.type, stored ?? this.#defaultOf(owner, node), this.#making.timeZone)
    const error = refused?.errors.get(node.name)
    return {
      ...rest,
      ...localBounds(rest, this.#making.timeZone),
      id: this.#idFor(`${owner?.id ?? 'page'}-${node.name}`),
      ...(value !== undefined && { value }),
      ...(error !== undefined && { error }),
    }
  }

  /** A new document gets the field's default; one that is edited keeps what it has. */
  #defaultOf(owner: PageForm | undefined, node: PageInput) {
    return owner && owner.document === undefined ? this.#making.fieldOf(owner, node)?.defaultValue : undefined
  }

  #ownForm(button: PageButton): PageForm {
    return {
      kind: 'form',
      id: this.#idFor(`do-${button.block ?? 'nothing'}`),
      block: button.block ?? '',
      plain: true,
      content: [sendingButton(button)],
      action: this.#making.action,
      hidden: this.#making.hidden(),
    }
  }

  #idFor(requested: string): string {
    const plain = requested.replace(/[^A-Za-z0-9_-]/g, '-')
    let id = plain
    let next = this.#asked.get(plain) ?? 1
    while (this.#ids.has(id)) {
      next += 1
      id = `${plain}-${next}`
    }
    this.#asked.set(plain, next)
    this.#ids.add(id)
    return id
  }
}

/** What the HTML button of a block sends. */
export function buttonValue(button: PageButton): string | undefined {
  return button.block === undefined ? undefined : `${button.block} ${button.value ?? ''}`
}

function sendingButton(button: PageButton): PageButton {
  const value = buttonValue(button)
  if (button.action === 'link' || value === undefined) return button
  return { ...button, name: sentNames.button, value }
}

function typedAgain(input: PageInput, posted: Posted) {
  if (input.type === 'password' || input.type === 'file') return undefined
  const sent = posted.all(input.name)
  if (input.type === 'check') return sent.length > 0
  return input.type === 'choices' ? sent : sent[0]
}

function bare(table: PageTable | undefined): PageTable | undefined {
  if (!table) return undefined
  const { search: _1, columnChoice: _2, actions: _3, ...shown } = table
  return shown
}

/** The data tables among the nodes. */
export function dataTablesOf(nodes: readonly PageNode[]): readonly DataTable[] {
  return [...everyNode(nodes)].filter((node) => node.kind === 'datatable')
}

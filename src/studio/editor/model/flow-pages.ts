import { isOpenable, pagePath } from '../../controls/pages/page-path.ts'
import { type Flow, inPinOf } from './flow.ts'

export interface FlowPage {
  readonly block: string
  /** `/books`, or `/books/{guid}`. */
  readonly path: string
}

/** The pages that the flow registers, by path. Those whose address comes from a wire are not among them. */
export function pagesOf(flow: Flow): FlowPage[] {
  const found = [...flow].flatMap(([block, content]): FlowPage[] => {
    const path = content.type === 'state_page' ? pagePath(inPinOf(content, 'url')?.value) : undefined
    return path === undefined ? [] : [{ block, path }]
  })
  return found.toSorted((a, b) => a.path.localeCompare(b.path))
}

/** Those that a browser can open without more. */
export function openablePagesOf(flow: Flow): FlowPage[] {
  return pagesOf(flow).filter(({ path }) => isOpenable(path))
}

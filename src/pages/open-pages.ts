import type { Clock } from '../shared/clock.ts'
import type { PageView } from '../shared/pages/page-content.ts'
import { type PageAsset, readPageAssets } from './page-assets.ts'
import { renderPage } from './render-page.ts'

export interface Pages {
  /** To be served below `/_pages/`, for ever: their names change with what is in them. */
  readonly assets: readonly PageAsset[]
  /** The whole document. */
  render(view: PageView): string
}

export async function openPages(clock: Clock): Promise<Pages> {
  const { assets, files } = await readPageAssets()
  return { assets, render: (view) => renderPage(view, files, clock()) }
}

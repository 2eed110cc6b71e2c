import { QuoinError } from '../../shared/errors.ts'
import type { PageServices } from '../pages/open-page-services.ts'

/** The address at which clients know this server, without a slash at its end. */
export function siteOf({ flows }: Pick<PageServices, 'flows'>): string {
  const { publicUrl: site } = flows.environment
  if (site !== '') return site
  throw new QuoinError('NOT_FOUND', 'OAuth needs QUOIN_PUBLIC_URL. An API key works without it.')
}

/** Whether tokens for it are tokens for `/mcp`. */
export function isResource(site: string, resource: string): boolean {
  return resource === `${site}/mcp` || resource === `${site}/mcp/`
}

/** First segment of the addresses at which users let agents in. */
export const OAUTH_PATH = '_oauth'

import { PinError } from '../block.ts'
import { endpointUri } from '../endpoint-uri.ts'

/** The one spelling of a page's address: as for endpoints, and empty for the start page. Throws PinError('url', …). */
export function pageUri(written: string): string {
  const uri = written.trim().replace(/^\//, '')
  if (uri === '') return ''
  try {
    return endpointUri(uri)
  } catch (error) {
    throw error instanceof PinError ? new PinError('url', error.message) : error
  }
}

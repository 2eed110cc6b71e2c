/** Refusals of SCIM (RFC 7644, 3.12): the word that its clients read goes along as `details.scimType`. */
import { QuoinError } from '../../shared/errors.ts'

type ScimType = 'invalidFilter' | 'tooMany' | 'invalidSyntax' | 'invalidPath' | 'invalidValue' | 'noTarget'

export function scimRefused(scimType: ScimType, message: string): QuoinError {
  const code = scimType === 'invalidFilter' ? 'INVALID_QUERY' : 'INVALID_BODY'
  return new QuoinError(code, message, { details: { scimType } })
}

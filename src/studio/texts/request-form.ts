/** Texts of the form of a request, in "Try it". */
export const requestFormTexts = {
  body: 'Body',
  howToWrite: 'How the body is written',
  fields: 'Fields',
  json: 'JSON',
  noObject: 'The body is no JSON object. Mend it as JSON.',
  leftOut: 'Not sent',
  from: (least: string) => `from ${least}`,
  upTo: (most: string) => `up to ${most}`,
  between: (least: string, most: string) => `${least} to ${most}`,
  characters: (range: string) => `${range} characters`,
  items: (range: string) => `${range} items`,
  like: (pattern: string) => `like ${pattern}`,
  otherwise: (value: string) => `${value} if it is not sent`,
  asJson: 'as JSON',
  separated: 'several with commas',
  mustBe: (type: string) => `Must be a ${type}.`,
} as const

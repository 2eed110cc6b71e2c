import { Badge } from '@mantine/core'
import { scopeWords } from './scope-words.ts'

/** A scope in words; its name, which is what is typed, on hover. */
export function ScopeBadge({ scope }: { readonly scope: string }) {
  return (
    <Badge color="petrol" tt="none" title={scope}>
      {scopeWords(scope)}
    </Badge>
  )
}

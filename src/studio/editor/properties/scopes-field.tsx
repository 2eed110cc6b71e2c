import { Select, TagsInput } from '@mantine/core'
import { useState } from 'react'
import { propertiesTexts } from '../../texts/properties.ts'
import classes from './properties.module.css'

const choices = [
  { value: '*public', label: propertiesTexts.everyonePublic },
  { value: '*loggedin', label: propertiesTexts.signedInUsers },
  { value: 'own', label: propertiesTexts.scopedUsers },
]

const words = {
  http: {
    label: propertiesTexts.whoMayCallIt,
    own: propertiesTexts.endpointScopes,
  },
  page: {
    label: propertiesTexts.whoMayOpenIt,
    own: propertiesTexts.pageScopes,
  },
  function: {
    label: propertiesTexts.whoMayCallTheTool,
    own: propertiesTexts.toolScopes,
  },
} as const

interface ScopesFieldProps {
  /** What the trigger is. */
  readonly on: keyof typeof words
  readonly scopes: readonly string[]
  readonly onChange: (scopes: string[]) => void
}

/** Agents have keys: a tool is public for none of its callers, and without scopes a deploy refuses it. */
function choiceOf(on: ScopesFieldProps['on'], scopes: readonly string[]): string | null {
  if (on === 'function' && scopes.length === 0) return null
  if (scopes.includes('*loggedin') || (on === 'function' && scopes.includes('*public'))) return '*loggedin'
  return scopes.length === 0 || scopes.includes('*public') ? '*public' : 'own'
}

/** Who may call an endpoint or a tool, or open a page. */
export function ScopesField({ on, scopes, onChange }: ScopesFieldProps) {
  const own = scopes.filter((scope) => !scope.startsWith('*'))
  const is = choiceOf(on, scopes)
  const [wantsOwn, setWantsOwn] = useState(is === 'own')
  const shown = wantsOwn ? 'own' : is
  return (
    <div className={classes.section}>
      <Select
        size="xs"
        label={words[on].label}
        data={on === 'function' ? choices.slice(1) : choices}
        value={shown}
        allowDeselect={false}
        onChange={(next) => {
          setWantsOwn(next === 'own')
          if (next !== null && next !== 'own') onChange([next])
        }}
      />
      {shown === 'own' ? (
        <TagsInput
          size="xs"
          label={propertiesTexts.scopes}
          description={words[on].own}
          placeholder={propertiesTexts.scopesExample}
          value={[...own]}
          onChange={(next) => onChange(next)}
          acceptValueOnBlur
        />
      ) : null}
    </div>
  )
}

/** A number that should be nought: it stands out when it is not. */
export function BadNumber({ value }: { readonly value: number }) {
  return (
    <span style={value > 0 ? { color: 'var(--mantine-color-error)', fontWeight: 600 } : {}}>
      {value.toLocaleString()}
    </span>
  )
}

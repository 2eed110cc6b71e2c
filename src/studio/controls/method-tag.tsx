import classes from './method-tag.module.css'

/** `GET`, in a colour of its own and always as wide. */
export function MethodTag({ method }: { readonly method: string }) {
  return (
    <span className={classes.tag} data-method={method}>
      {method}
    </span>
  )
}

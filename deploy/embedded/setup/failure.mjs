/** What stopped the set-up and what to do about it, as text for the terminal. */
export class SetUpFailure extends Error {
  name = 'SetUpFailure'
}

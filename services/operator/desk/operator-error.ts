/** What an operator can put right: one line that says what is wrong and what to do next. */
export class OperatorError extends Error {}

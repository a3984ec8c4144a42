/** Names for sample data: plain enough to tell apart, and some with what CSV has to quote. */
export const shopNames = [
  'Seven Corners',
  'North Star',
  'Blue Door',
  'Old Mill',
  'Harbour',
  'Green Lane',
  'Miller & Sons',
  "O'Brien's",
]
export const shopTrades = ['Books', 'Coffee', 'Bikes', 'Records', 'Bakery', 'Optics', 'Shoes, Bags', 'Games']
export const categories = [
  'Food',
  'Books',
  'Clothing',
  'Music',
  'Sports',
  'Travel',
  'Health',
  'Electronics',
  'Home',
  'Gifts',
]
export const tags = [
  'vegan',
  'student favourite',
  'new',
  'open late',
  'local',
  'second-hand',
  'fair trade',
  'last chance',
]
export const keywords = [
  'coffee',
  'textbooks',
  'headphones',
  'running shoes',
  'pizza',
  'haircut',
  'train tickets',
  'laptop',
  'sushi',
  'cinema',
  'gym',
  'stationery',
]
export const institutes = [
  'Kingsbridge University',
  'Northgate College',
  'Riverside Institute of Art',
  'Eastfield Polytechnic',
]
export const courses = [
  'Economics',
  'Physics',
  'History',
  'Nursing',
  'Law',
  'Computer Science',
  'Fine Art',
  'Biology',
  'Music',
]
export const cities = ['London', 'Leeds', 'Bristol', 'Dublin', 'Cork', 'Berlin', 'Lyon', 'Cardiff', 'Glasgow', 'York']
export const areas = ['High Street', 'Station Road', 'Market Square', 'Riverside', 'Old Town', 'Campus']
export const offerNames = [
  'Ten off',
  'Two for one',
  'Student Tuesday',
  'Free coffee with lunch',
  'The "big" one',
  'Winter sale, everything',
]
